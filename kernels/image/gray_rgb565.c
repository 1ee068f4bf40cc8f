// SPDX-License-Identifier: Apache-2.0
// gray_rgb565: pixels of RGB565 become their luma, (77 R + 150 G + 29 B + 128) >> 8.
//
//     pixels  (..)  int16, whose bits are a pixel's
//     out     (..)  uint8
#include "kernels/image/image.h"

enum { PIXELS, OUT };

typedef struct gray_rgb565 {
    const uint16_t *pixels; // (count,)
    uint8_t *y;             // (count,)
    uint32_t count;
} gray_rgb565_t;

static int32_t run(void *state) {
    const gray_rgb565_t *s = state;
    const uint16_t *from = s->pixels;
    uint8_t *to = s->y;
    for (uint32_t i = s->count; i > 0; i--) {
        const uint32_t pixel = *from++;
        const uint32_t red = 77u * ember_rgb565_red(pixel);
        const uint32_t green = 150u * ember_rgb565_green(pixel);
        *to++ = (uint8_t)((red + green + 29u * ember_rgb565_blue(pixel) + 128u) >> 8);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t pixels;
    ember_tensor_t y;
    ember_node_tensor(node, PIXELS, &pixels);
    ember_node_output_like(node, OUT, &pixels, &y);
    if (!ember_image_check(node, &pixels, EMBER_S16, &y)) {
        return ember_node_status(node);
    }
    *(gray_rgb565_t *)state = (gray_rgb565_t){pixels.data, y.data, y.numel};
    return EMBER_OK;
}

EMBER_KERNEL(gray_rgb565, gray_rgb565_t);
