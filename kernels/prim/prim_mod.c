// SPDX-License-Identifier: Apache-2.0
// a % b as Python means it: with the sign of b.
#include <math.h>

#include "kernels/engine/prim.h"

// No result for a division by zero: run fails.
static void divide(ember_prim_t *prim, int64_t a, int64_t b) {
    if (b == 0) {
        return;
    }
    const int64_t rest = b == -1 ? 0 : a % b;
    ember_prim_set_int(prim, rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

static double divide_doubles(double a, double b) {
    const double rest = fmod(a, b);
    return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

static void compute(ember_prim_t *prim, const ember_value_t *values) {
    const ember_value_t *a = &values[0];
    const ember_value_t *b = &values[1];
    if (a->kind != EMBER_DOUBLE && b->kind != EMBER_DOUBLE) {
        divide(prim, a->as_int, b->as_int);
    } else {
        ember_prim_set_double(
            prim, divide_doubles(ember_prim_double(a), ember_prim_double(b)));
    }
}

EMBER_PRIM_KERNEL(prim_mod, 2);
