// SPDX-License-Identifier: Apache-2.0
// Pixels of 5, 6 and 5 bits, red highest: as 8 bits each, whose lowest bits are the
// highest of the colour, so that 0 and the largest number become 0 and 255.
#ifndef EMBER_KERNELS_IMAGE_RGB565_H
#define EMBER_KERNELS_IMAGE_RGB565_H

#include "ember/node.h"

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

// Whether both are as they lie in memory, of these dtypes; UNSUPPORTED otherwise.
static inline bool ember_image_check(ember_node_t *node, const ember_tensor_t *from,
                                     ember_dtype_t from_dtype,
                                     const ember_tensor_t *to) {
    if (ember_node_status(node) != EMBER_OK) {
        return false;
    }
    if (from->dtype != from_dtype || to->dtype != EMBER_U8 ||
        !ember_tensor_is_contiguous(from) || !ember_tensor_is_contiguous(to)) {
        (void)ember_node_fail(node, EMBER_UNSUPPORTED,
                              "image: dtypes, or not contiguous");
        return false;
    }
    return true;
}

#endif // EMBER_KERNELS_IMAGE_RGB565_H
