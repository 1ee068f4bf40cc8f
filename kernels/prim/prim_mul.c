// SPDX-License-Identifier: Apache-2.0
// The product of two numbers; ints wrap.
#include "kernels/engine/prim.h"

static void compute(ember_prim_t *prim, const ember_value_t *values) {
    const ember_value_t *a = &values[0];
    const ember_value_t *b = &values[1];
    if (a->kind != EMBER_DOUBLE && b->kind != EMBER_DOUBLE) {
        ember_prim_set_int(prim, (int64_t)((uint64_t)a->as_int * (uint64_t)b->as_int));
    } else {
        ember_prim_set_double(prim, ember_prim_double(a) * ember_prim_double(b));
    }
}

EMBER_PRIM_KERNEL(prim_mul, 2);
