// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_hvx: one filter per channel, with Hexagon's vectors.
#include "kernels/engine/hvx/depthwise_hvx.h"

static int32_t run(void *state) {
    ember_depthwise_hvx_run(state, NULL);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_depthwise_hvx_t *s = state;
    const ember_status_t status = ember_conv_s8_depthwise_args(&s->conv, node);

    return status != EMBER_OK ? status : ember_depthwise_hvx_prepare(s, node, 0);
}

EMBER_KERNEL(quantized_depthwise_conv2d_hvx, ember_depthwise_hvx_t);
