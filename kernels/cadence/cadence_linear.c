// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_linear, of every dtype. Contract: products.h.
#include "kernels/cadence/products.h"

static int32_t run(void *state) {
    ember_cadence_products_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_cadence_linear(state, node);
}

EMBER_KERNEL(cadence_linear, ember_cadence_products_t);
