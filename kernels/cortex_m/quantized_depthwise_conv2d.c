// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_depthwise_conv2d.out
#include "kernels/engine/int8/conv_s8_run.h"

static int32_t run(void *state) {
    ember_conv_s8_plain_run(state, true);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_conv_s8_plain_t *s = state;
    const ember_status_t status = ember_conv_s8_depthwise_args(&s->conv, node);

    return status != EMBER_OK ? status : ember_conv_s8_plain_prepare(s, node);
}

EMBER_KERNEL(quantized_depthwise_conv2d, ember_conv_s8_plain_t);
