// SPDX-License-Identifier: Apache-2.0
#include "kernels/image/bayer.h"

ember_status_t ember_bayer_prepare(ember_node_t *node, int32_t planes,
                                   ember_bayer_t *s) {
    ember_tensor_t pixels;
    ember_tensor_t y;
    int32_t sizes[EMBER_MAX_RANK] = {0};
    ember_node_tensor(node, EMBER_BAYER_PIXELS, &pixels);
    const int32_t red = ember_node_int_in(node, EMBER_BAYER_RED, 0, 3);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const uint32_t rank = pixels.rank + (planes > 0 ? 1u : 0u);
    if (pixels.rank < 2 || rank > EMBER_MAX_RANK) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "image: not rows of pixels");
    }
    const int32_t *size = pixels.sizes + pixels.rank - 2;
    if (size[0] % 2 != 0 || size[1] % 2 != 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "bayer: not cells of 2 x 2");
    }
    memcpy(sizes, pixels.sizes, (pixels.rank - 2u) * sizeof(*sizes));
    sizes[pixels.rank - 2] = planes;
    sizes[rank - 2] = size[0] / 2;
    sizes[rank - 1] = size[1] / 2;
    ember_node_output(node, EMBER_BAYER_OUT, rank, sizes, &y);
    if (!ember_image_check(node, &pixels, EMBER_U8, &y)) {
        return ember_node_status(node);
    }
    const uint32_t whole = (uint32_t)size[0] * (uint32_t)size[1];
    *s = (ember_bayer_t){
        .pixels = pixels.data,
        .y = y.data,
        .images = whole == 0 ? 0 : pixels.numel / whole,
        .rows = (uint32_t)size[0] / 2,
        .columns = (uint32_t)size[1] / 2,
        .red = (uint32_t)red,
    };
    return EMBER_OK;
}
