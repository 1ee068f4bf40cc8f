// SPDX-License-Identifier: Apache-2.0
// b where a is nonzero, else c.
#include "kernels/engine/prim.h"

static void compute(ember_prim_t *prim, const ember_value_t *values) {
    const ember_value_t *chosen =
        ember_prim_double(&values[0]) != 0.0 ? &values[1] : &values[2];
    if (chosen->kind == EMBER_DOUBLE) {
        ember_prim_set_double(prim, chosen->as_double);
    } else if (chosen->kind == EMBER_BOOL) {
        ember_prim_set_bool(prim, chosen->as_int != 0);
    } else {
        ember_prim_set_int(prim, chosen->as_int);
    }
}

EMBER_PRIM_KERNEL(prim_sym_ite, 3);
