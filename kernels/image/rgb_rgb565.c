// SPDX-License-Identifier: Apache-2.0
// rgb_rgb565: pixels of RGB565 become three planes of 8 bits: red, green, blue.
//
//     pixels  (.., h, w)     int16, whose bits are a pixel's
//     out     (.., 3, h, w)  uint8
#include "kernels/image/image.h"

enum { PIXELS, OUT };

typedef struct rgb_rgb565 {
    const uint16_t *pixels; // (images, size)
    uint8_t *y;             // (images, 3, size)
    uint32_t images;
    uint32_t size;
} rgb_rgb565_t;

static int32_t run(void *state) {
    const rgb_rgb565_t *s = state;
    const uint16_t *from = s->pixels;
    uint8_t *to = s->y;
    for (uint32_t image = 0; image < s->images;
         image++, to += EMBER_IMAGE_CHANNELS * s->size) {
        for (uint32_t i = 0; i < s->size; i++) {
            const uint32_t pixel = *from++;
            to[i] = (uint8_t)ember_rgb565_red(pixel);
            to[s->size + i] = (uint8_t)ember_rgb565_green(pixel);
            to[2 * s->size + i] = (uint8_t)ember_rgb565_blue(pixel);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t pixels;
    ember_tensor_t y;
    ember_node_tensor(node, PIXELS, &pixels);
    const uint32_t images = ember_image_planes(node, OUT, &pixels, 1, &y);
    if (!ember_image_check(node, &pixels, EMBER_S16, &y)) {
        return ember_node_status(node);
    }
    *(rgb_rgb565_t *)state = (rgb_rgb565_t){pixels.data, y.data, images,
                                            images == 0 ? 0 : pixels.numel / images};
    return EMBER_OK;
}

EMBER_KERNEL(rgb_rgb565, rgb_rgb565_t);
