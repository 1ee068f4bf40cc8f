// SPDX-License-Identifier: Apache-2.0
// ember::quantized_depthwise_conv2d_int16.out
#include "kernels/cortex_m/conv_s16.h"

static int32_t run(void *state) {
    ember_conv_s16_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_conv_s16_depthwise_args(state, node);
}

EMBER_KERNEL(quantized_depthwise_conv2d_int16, ember_conv_s16_t);
