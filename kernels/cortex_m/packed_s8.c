// SPDX-License-Identifier: Apache-2.0
// The arguments of packed convolutions. Contract: packed_s8.h.
#include "kernels/cortex_m/packed_s8.h"

enum { FOUR = EMBER_PACKED_FOUR, MOST = 1 << 15 }; // elements of a filter

// The least depth of rows of taps that come in fours.
static uint32_t padded_depth(const ember_conv_s8_t *conv) {
    const int32_t kernel = conv->width.kernel;
    const uint32_t step = kernel % FOUR == 0 ? 1 : kernel % 2 == 0 ? 2 : FOUR;

    return ((uint32_t)conv->channels + step - 1) & ~(step - 1);
}

ember_status_t ember_packed_s8_args(ember_conv_s8_t *conv, ember_node_t *node,
                                    int32_t *fours) {
    const ember_conv_s8_places_t places = {
        .dilation = 5, .offset = 6, .out = 13, .packed = true};
    const ember_status_t status = ember_conv_s8_args(conv, node, &places);

    if (status != EMBER_OK) {
        return status;
    }
    const int64_t line = (int64_t)conv->width.kernel * conv->depth;
    if ((uint32_t)conv->depth != padded_depth(conv) || line < FOUR ||
        conv->filters % FOUR != 0 || conv->height.kernel * line > MOST) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cortex_m: packed weights");
    }
    conv->depth = conv->channels;
    if (conv->height.dilation != 1 || conv->width.dilation != 1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: dilation");
    }
    *fours = (int32_t)line / FOUR;
    return EMBER_OK;
}
