// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_mve: one filter per channel, with Helium.
#include "kernels/engine/mve/depthwise_s8_mve.h"

static int32_t run(void *state) {
    ember_depthwise_s8_mve_run(state, ember_depthwise_mve);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_depthwise_s8_mve_t *s = state;
    const ember_status_t status = ember_conv_s8_depthwise_args(&s->conv, node);

    return status != EMBER_OK ? status : ember_depthwise_s8_mve_prepare(s, node);
}

EMBER_KERNEL(quantized_depthwise_conv2d_mve, ember_depthwise_s8_mve_t);
