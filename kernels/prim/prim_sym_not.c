// SPDX-License-Identifier: Apache-2.0
// Whether a is zero.
#include "kernels/engine/prim.h"

static void compute(ember_prim_t *prim, const ember_value_t *values) {
    ember_prim_set_bool(prim, ember_prim_double(&values[0]) == 0.0);
}

EMBER_PRIM_KERNEL(prim_sym_not, 1);
