// SPDX-License-Identifier: Apache-2.0
// The arguments of convolutions with packed weights. Contract: lent_panels.h.
#include "kernels/cadence/lent_panels.h"

enum { X, OFFSET = 6, Y_OFFSET, SCALE, INVERSE, LAYOUT };
enum { LAST = LAYOUT + 1, LAST_DEPTHWISE = LAYOUT + 2 }; // behind the layout
enum { RANK = 4 };

// The image and the numbers.
static ember_status_t read_image(ember_conv_s8_t *conv, ember_node_t *node, bool last) {
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

static ember_status_t set_output(ember_lent_panels_t *s, ember_node_t *node,
                                 uint32_t out, bool last, uint32_t steps) {
    ember_conv_s8_t *conv = &s->conv;
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
    return ember_lent_turned(&s->lent, conv, node, 0, last);
}

ember_status_t ember_lent_panels_args(ember_lent_panels_t *s, ember_node_t *node) {
    const bool last = ember_node_bool(node, LAST);

    *s = (ember_lent_panels_t){.lent = {.batches = 1}};
    if (read_image(&s->conv, node, last) != EMBER_OK ||
        ember_panels_s8_weights(&s->whole, node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return set_output(s, node, LAST + 1, last, ember_panels_s8_steps(&s->whole));
}

ember_status_t ember_lent_panels_depthwise_args(ember_lent_panels_t *s,
                                                ember_node_t *node) {
    const bool last = ember_node_bool(node, LAST_DEPTHWISE);

    *s = (ember_lent_panels_t){.lent = {.batches = 1, .depthwise = true}};
    if (read_image(&s->conv, node, last) != EMBER_OK ||
        ember_depthwise_panels_s8_weights(&s->depthwise, node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return set_output(s, node, LAST_DEPTHWISE + 1, last,
                      ember_depthwise_panels_s8_steps(&s->depthwise));
}
