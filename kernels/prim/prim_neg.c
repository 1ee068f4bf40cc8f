// SPDX-License-Identifier: Apache-2.0
// -a.
#include "kernels/engine/prim.h"

static void compute(ember_prim_t *prim, const ember_value_t *values) {
    if (values[0].kind == EMBER_DOUBLE) {
        ember_prim_set_double(prim, -values[0].as_double);
    } else {
        ember_prim_set_int(prim, (int64_t)(0u - (uint64_t)values[0].as_int));
    }
}

EMBER_PRIM_KERNEL(prim_neg, 1);
