// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_transposed_conv.
#include "kernels/cadence/conv.h"

static int32_t run(void *state) {
    ember_cadence_conv_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_cadence_conv_transposed(state, node);
}

EMBER_KERNEL(cadence_transposed_conv, ember_cadence_conv_t);
