// SPDX-License-Identifier: Apache-2.0
// rgb_rgb565: pixels of RGB565 become three planes of 8 bits: red, green, blue.
//
//     pixels  (.., h, w)     int16, whose bits are a pixel's
//     out     (.., 3, h, w)  uint8
#include <string.h>

#include "kernels/image/rgb565.h"

enum { PIXELS, OUT };
enum { CHANNELS = 3 };

typedef struct rgb_rgb565 {
    const uint16_t *pixels; // (images, size)
    uint8_t *y;             // (images, CHANNELS, size)
    uint32_t images;
    uint32_t size;
} rgb_rgb565_t;

static int32_t run(void *state) {
    const rgb_rgb565_t *s = state;
    const uint16_t *from = s->pixels;
    uint8_t *to = s->y;
    for (uint32_t image = 0; image < s->images; image++, to += CHANNELS * s->size) {
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
    int32_t sizes[EMBER_MAX_RANK] = {0};
    ember_node_tensor(node, PIXELS, &pixels);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (pixels.rank < 2 || pixels.rank >= EMBER_MAX_RANK) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "rgb_rgb565: no image");
    }
    const uint32_t before = pixels.rank - 2u;
    memcpy(sizes, pixels.sizes, before * sizeof(*sizes));
    sizes[before] = CHANNELS;
    memcpy(sizes + before + 1, pixels.sizes + before, 2 * sizeof(*sizes));
    ember_node_output(node, OUT, pixels.rank + 1u, sizes, &y);
    if (!ember_image_check(node, &pixels, EMBER_S16, &y)) {
        return ember_node_status(node);
    }
    const uint32_t size = (uint32_t)(pixels.sizes[before] * pixels.sizes[before + 1]);
    *(rgb_rgb565_t *)state =
        (rgb_rgb565_t){pixels.data, y.data, size == 0 ? 0 : pixels.numel / size, size};
    return EMBER_OK;
}

EMBER_KERNEL(rgb_rgb565, rgb_rgb565_t);
