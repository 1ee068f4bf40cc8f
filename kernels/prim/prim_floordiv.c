// SPDX-License-Identifier: Apache-2.0
// a // b as Python means it: rounded down.
#include <math.h>

#include "kernels/engine/prim.h"

// No result for a division by zero: run fails.
static void divide(ember_prim_t *prim, int64_t a, int64_t b) {
    if (b == -1) {
        ember_prim_set_int(prim, (int64_t)(0u - (uint64_t)a));
    } else if (b != 0) {
        ember_prim_set_int(prim, a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
    }
}

static void compute(ember_prim_t *prim, const ember_value_t *values) {
    const ember_value_t *a = &values[0];
    const ember_value_t *b = &values[1];
    if (a->kind != EMBER_DOUBLE && b->kind != EMBER_DOUBLE) {
        divide(prim, a->as_int, b->as_int);
    } else {
        ember_prim_set_double(prim, floor(ember_prim_double(a) / ember_prim_double(b)));
    }
}

EMBER_PRIM_KERNEL(prim_floordiv, 2);
