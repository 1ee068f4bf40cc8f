// SPDX-License-Identifier: Apache-2.0
// a as an int, rounded to zero.
#include "kernels/engine/prim.h"

static void compute(ember_prim_t *prim, const ember_value_t *values) {
    if (values[0].kind == EMBER_DOUBLE) {
        ember_prim_set_whole(prim, values[0].as_double);
    } else {
        ember_prim_set_int(prim, values[0].as_int);
    }
}

EMBER_PRIM_KERNEL(prim_sym_int, 1);
