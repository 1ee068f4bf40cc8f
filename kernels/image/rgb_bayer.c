// SPDX-License-Identifier: Apache-2.0
// rgb_bayer: cells of a Bayer sensor (bayer.h) become red, green, (G + G' + 1) >> 1,
// and blue.
//
//     out  (.., 3, h, w)  uint8
#include "kernels/image/bayer.h"

static void run_row(const ember_bayer_t *s, const uint8_t *from, uint8_t *to) {
    const uint32_t below = 2 * s->columns;
    const uint32_t plane = s->rows * s->columns;
    for (uint32_t i = s->columns; i > 0; i--, from += 2, to++) {
        to[0] = (uint8_t)ember_bayer_at(from, below, s->red);
        to[plane] = (uint8_t)((ember_bayer_greens(from, below, s->red) + 1u) >> 1);
        to[2 * plane] = (uint8_t)ember_bayer_at(from, below, s->red ^ 3u);
    }
}

static int32_t run(void *state) {
    const ember_bayer_t *s = state;
    const uint8_t *from = s->pixels;
    uint8_t *to = s->y;
    for (uint32_t image = 0; image < s->images; image++) {
        for (uint32_t row = 0; row < s->rows; row++) {
            run_row(s, from, to);
            from += 4 * s->columns;
            to += s->columns;
        }
        to += 2 * s->rows * s->columns;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_bayer_prepare(node, EMBER_IMAGE_CHANNELS, state);
}

EMBER_KERNEL(rgb_bayer, ember_bayer_t);
