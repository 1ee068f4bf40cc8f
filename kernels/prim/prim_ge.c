// SPDX-License-Identifier: Apache-2.0
// Whether a >= b.
#include "kernels/engine/prim.h"

static void compute(ember_prim_t *prim, const ember_value_t *values) {
    const ember_value_t *a = &values[0];
    const ember_value_t *b = &values[1];
    if (a->kind != EMBER_DOUBLE && b->kind != EMBER_DOUBLE) {
        ember_prim_set_bool(prim, a->as_int >= b->as_int);
    } else {
        ember_prim_set_bool(prim, ember_prim_double(a) >= ember_prim_double(b));
    }
}

EMBER_PRIM_KERNEL(prim_ge, 2);
