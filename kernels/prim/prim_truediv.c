// SPDX-License-Identifier: Apache-2.0
// a / b, as a double.
#include "kernels/engine/prim.h"

static void compute(ember_prim_t *prim, const ember_value_t *values) {
    const ember_value_t *a = &values[0];
    const ember_value_t *b = &values[1];
    ember_prim_set_double(prim, ember_prim_double(a) / ember_prim_double(b));
}

EMBER_PRIM_KERNEL(prim_truediv, 2);
