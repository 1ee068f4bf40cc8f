// SPDX-License-Identifier: Apache-2.0
// rgb_yuv422: pairs of pixels that share their chroma become red, green and blue, by
// BT.601 with the full range 0 to 255 (JPEG's), in integers.
//
//     pixels  (.., h, 2 w)   uint8, Y U Y V, where w is even
//     out     (.., 3, h, w)  uint8
//
//     R = Y + 1.402 V    G = Y - 0.344 U - 0.715 V    B = Y + 1.773 U
//
// with U and V minus 128 and factors in 256ths, rounded, clamped to 0 .. 255.
#include "kernels/image/image.h"

enum { PIXELS, OUT };
enum { BYTES = 2 }; // of a pixel

typedef struct rgb_yuv422 {
    const uint8_t *pixels; // (images, pairs, 4)
    uint8_t *y;            // (images, 3, 2 pairs)
    uint32_t images;
    uint32_t pairs;
} rgb_yuv422_t;

static uint8_t within(int32_t value) {
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void run_pair(const uint8_t *from, uint8_t *to, uint32_t plane) {
    const int32_t u = from[1] - 128;
    const int32_t v = from[3] - 128;
    const int32_t red = (359 * v + 128) >> 8;
    const int32_t green = (-88 * u - 183 * v + 128) >> 8;
    const int32_t blue = (454 * u + 128) >> 8;
    for (uint32_t k = 0; k < 2; k++) {
        const int32_t luma = from[2 * k];
        to[k] = within(luma + red);
        to[plane + k] = within(luma + green);
        to[2 * plane + k] = within(luma + blue);
    }
}

static int32_t run(void *state) {
    const rgb_yuv422_t *s = state;
    const uint8_t *from = s->pixels;
    const uint32_t plane = 2 * s->pairs;
    uint8_t *to = s->y;
    for (uint32_t image = 0; image < s->images; image++, to += 2 * plane) {
        for (uint32_t i = s->pairs; i > 0; i--, from += 4, to += 2) {
            run_pair(from, to, plane);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t pixels;
    ember_tensor_t y;
    ember_node_tensor(node, PIXELS, &pixels);
    const uint32_t images = ember_image_planes(node, OUT, &pixels, BYTES, &y);
    if (!ember_image_check(node, &pixels, EMBER_U8, &y)) {
        return ember_node_status(node);
    }
    *(rgb_yuv422_t *)state = (rgb_yuv422_t){
        pixels.data, y.data, images, images == 0 ? 0 : pixels.numel / images / 4};
    return EMBER_OK;
}

EMBER_KERNEL(rgb_yuv422, rgb_yuv422_t);
