// SPDX-License-Identifier: Apache-2.0
// What kernels on images share: checks of their tensors, and pixels with 5, 6 and 5
// bits, red in the highest.
#ifndef EMBER_KERNELS_IMAGE_IMAGE_H
#define EMBER_KERNELS_IMAGE_IMAGE_H

#include "ember/node.h"

#include <string.h>

enum { EMBER_IMAGE_CHANNELS = 3 };

// Colours widened to 8 bits by repeating their highest bits below, so that 0 and the
// maximum become 0 and 255.
static inline uint32_t ember_rgb565_red(uint32_t pixel) {
    const uint32_t red = pixel >> 11 & 31u;
    return red << 3 | red >> 2;
}

static inline uint32_t ember_rgb565_green(uint32_t pixel) {
    const uint32_t green = pixel >> 5 & 63u;
    return green << 2 | green >> 4;
}

static inline uint32_t ember_rgb565_blue(uint32_t pixel) {
    const uint32_t blue = pixel & 31u;
    return blue << 3 | blue >> 2;
}

// Whether both are contiguous and have these dtypes; UNSUPPORTED otherwise.
static inline bool ember_image_check(ember_node_t *node, const ember_tensor_t *from,
                                     ember_dtype_t from_dtype,
                                     const ember_tensor_t *to) {
    if (ember_node_status(node) != EMBER_OK) {
        return false;
    }
    if (from->dtype != from_dtype || to->dtype != EMBER_U8 ||
        !ember_tensor_is_contiguous(from) || !ember_tensor_is_contiguous(to)) {
        (void)ember_node_fail(node, EMBER_UNSUPPORTED,
                              "image: wrong dtypes, or not contiguous");
        return false;
    }
    return true;
}

// The output for (.., h, from's last size / bytes) pixels: three planes (.., 3, h, w);
// and the number of images. A pixel is `bytes` elements of `from`. BAD_PROGRAM if
// `from` does not consist of images.
static inline uint32_t ember_image_planes(ember_node_t *node, uint32_t out,
                                          const ember_tensor_t *from, int32_t bytes,
                                          ember_tensor_t *to) {
    int32_t sizes[EMBER_MAX_RANK] = {0};
    if (ember_node_status(node) != EMBER_OK) {
        return 0;
    }
    if (from->rank < 2 || from->rank >= EMBER_MAX_RANK ||
        from->sizes[from->rank - 1] % (bytes * bytes) != 0) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "image: not rows of pixels");
        return 0;
    }
    const uint32_t before = from->rank - 2u;
    const int32_t *size = from->sizes + before;
    memcpy(sizes, from->sizes, before * sizeof(*sizes));
    sizes[before] = EMBER_IMAGE_CHANNELS;
    sizes[before + 1] = size[0];
    sizes[before + 2] = size[1] / bytes;
    ember_node_output(node, out, from->rank + 1u, sizes, to);
    const uint32_t whole = (uint32_t)(size[0] * size[1]);
    return whole == 0 ? 0 : from->numel / whole;
}

#endif // EMBER_KERNELS_IMAGE_IMAGE_H
