// SPDX-License-Identifier: Apache-2.0
// What operators with weights from the host have alike. Contract: lent_image.h.
#include "kernels/cadence/lent_image.h"

enum { X, OFFSET = 6, Y_OFFSET, SCALE, INVERSE };
enum { RANK = 4 };

ember_status_t ember_lent_image(ember_conv_s8_t *conv, ember_node_t *node, bool last) {
    const uint32_t space = last ? 1 : 2;
    ember_tensor_t x;

    ember_node_tensor(node, X, &x);
    conv->x_offset = (int16_t)ember_zero_point_arg(node, OFFSET);
    conv->rows = EMBER_ROWS_REAL;
    conv->scales = (ember_scales_s8_t){
        .scale = (float)ember_node_double(node, SCALE),
        .inverse = (float)ember_node_double(node, INVERSE),
        .zero_point = (int16_t)ember_zero_point_arg(node, Y_OFFSET),
        .limits = {INT8_MIN, INT8_MAX},
    };
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_S8 || x.rank != RANK || !ember_cadence_plain(node, &x) ||
        !(conv->scales.scale > 0.0f) ||
        !ember_real_fits(conv->scales.scale, conv->scales.inverse)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "ember: image or scales");
    }
    conv->x = x.data;
    conv->batches = x.sizes[0];
    conv->channels = x.sizes[last ? RANK - 1 : 1];
    conv->depth = conv->channels;
    conv->height.in = x.sizes[space];
    conv->width.in = x.sizes[space + 1];
    return EMBER_OK;
}

ember_status_t ember_lent_output(ember_lent_t *lent, ember_conv_s8_t *conv,
                                 ember_node_t *node, uint32_t out, bool last,
                                 uint32_t steps) {
    const int32_t sizes[RANK] = {conv->batches, last ? conv->height.out : conv->filters,
                                 last ? conv->width.out : conv->height.out,
                                 last ? conv->filters : conv->width.out};
    ember_tensor_t y;

    ember_node_output(node, out, RANK, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != EMBER_S8 || !ember_cadence_plain(node, &y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: output");
    }
    conv->y = y.data;
    if (conv->y != NULL && conv->y == conv->x) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "ember: an output lies over its input");
    }
    const int32_t pixels = conv->batches * ember_lent_out(conv);
    ember_node_work(node, (uint32_t)pixels, steps);
    return ember_lent_turned(lent, conv, node, 0, last);
}
