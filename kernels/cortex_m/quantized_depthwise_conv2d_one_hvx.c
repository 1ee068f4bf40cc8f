// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_one_hvx: a single channel, used by all filters, with HVX.
#include "kernels/engine/hvx/columns_hvx.h"

static int32_t run(void *state) {
    ember_columns_conv_hvx_run(state, true);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_columns_conv_hvx_t *s = state;
    const ember_status_t status = ember_conv_s8_depthwise_args(&s->conv, node);

    return status != EMBER_OK ? status : ember_columns_conv_hvx_prepare(s, node, true);
}

EMBER_KERNEL(quantized_depthwise_conv2d_one_hvx, ember_columns_conv_hvx_t);
