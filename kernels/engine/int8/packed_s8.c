// SPDX-License-Identifier: Apache-2.0
// The arguments of packed convolutions. Contract: packed_s8.h.
#include "kernels/engine/int8/packed_s8.h"

enum { FOUR = EMBER_PACKED_FOUR, MOST = 1 << 15 }; // elements of a filter
enum { PAIR = 2, WORD = 4 };

// The least depth of rows of taps that come in fours.
static uint32_t padded_depth(const ember_conv_s8_t *conv) {
    const int32_t kernel = conv->width.kernel;
    const uint32_t step = kernel % FOUR == 0 ? 1 : kernel % 2 == 0 ? 2 : FOUR;

    return ((uint32_t)conv->channels + step - 1) & ~(step - 1);
}

ember_status_t ember_packed_s8_rows(ember_conv_s8_t *conv, ember_node_t *node,
                                    int32_t *fours) {
    const int64_t line = (int64_t)conv->width.kernel * conv->depth;
    if ((uint32_t)conv->depth != padded_depth(conv) || line < FOUR ||
        conv->filters % FOUR != 0 || conv->height.kernel * line > MOST) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "ember: packed weights");
    }
    conv->depth = conv->channels;
    if (conv->height.dilation != 1 || conv->width.dilation != 1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "ember: packed weights and dilation");
    }
    *fours = (int32_t)line / FOUR;
    return EMBER_OK;
}

ember_status_t ember_packed_s8_args(ember_conv_s8_t *conv, ember_node_t *node,
                                    int32_t *fours) {
    const ember_conv_s8_places_t places = {
        .dilation = 5, .offset = 6, .out = 13, .packed = true};
    const ember_status_t status = ember_conv_s8_args(conv, node, &places);

    return status != EMBER_OK ? status : ember_packed_s8_rows(conv, node, fours);
}

// --- unpacking -----------------------------------------------------------------------

// The weight of filter `f` at `element`, which are less than four, of a block.
static int8_t weight(const int8_t *block, int32_t f, int32_t element) {
    const int32_t half = element % PAIR, pair = f / PAIR;
    const int8_t *both =
        block + (half * PAIR + pair) * WORD + element / PAIR * (WORD / PAIR);

    return f % PAIR == 0 ? (int8_t)(both[0] ^ INT8_MIN) : both[1];
}

void ember_packed_s8_unpack(const ember_conv_s8_t *conv, int32_t fours, int8_t *to) {
    const int32_t line = conv->width.kernel * conv->depth;
    const int32_t blocks = conv->height.kernel * fours;

    for (int32_t f = 0; f < conv->filters; f++) {
        const int8_t *row = conv->w + f / FOUR * blocks * FOUR * FOUR;
        for (int32_t ky = 0; ky < conv->height.kernel; ky++) {
            for (int32_t i = 0; i < line; i++) {
                *to++ = weight(row + i / FOUR * FOUR * FOUR, f % FOUR, i % FOUR);
            }
            row += fours * FOUR * FOUR;
        }
    }
}
