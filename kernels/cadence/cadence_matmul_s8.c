// SPDX-License-Identifier: Apache-2.0
// Those of cadence_matmul that are products of cortex_m, by its plain C.
#include "kernels/cadence/lent_products_plain.h"

static int32_t run(void *state) {
    ember_lent_products_plain(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_lent_matmul(state, node);
}

EMBER_KERNEL(cadence_matmul_s8, ember_matmul_s8_t);
