// SPDX-License-Identifier: Apache-2.0
// gray_bayer: cells of a Bayer sensor (bayer.h) become their luma,
// (77 R + 75 G + 75 G' + 29 B + 128) >> 8.
//
//     out  (.., h, w)  uint8
#include "kernels/image/bayer.h"

static int32_t run(void *state) {
    const ember_bayer_t *s = state;
    const uint32_t below = 2 * s->columns;
    const uint8_t *from = s->pixels;
    uint8_t *to = s->y;
    for (uint32_t row = s->images * s->rows; row > 0; row--, from += below) {
        for (uint32_t i = s->columns; i > 0; i--, from += 2) {
            const uint32_t red = 77u * ember_bayer_at(from, below, s->red);
            const uint32_t green = 75u * ember_bayer_greens(from, below, s->red);
            const uint32_t blue = 29u * ember_bayer_at(from, below, s->red ^ 3u);
            *to++ = (uint8_t)((red + green + blue + 128u) >> 8);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_bayer_prepare(node, 0, state);
}

EMBER_KERNEL(gray_bayer, ember_bayer_t);
