// SPDX-License-Identifier: Apache-2.0
// Arguments of layers with activations of int16. Contract: conv_s16.h.
#include "kernels/cortex_m/conv_s16.h"

enum { X, W, LINEAR_MULTIPLIERS = 3, LINEAR_LOW = 5, LINEAR_HIGH, LINEAR_OUT };
enum { MULTIPLIERS = 6, LOW = 8, HIGH, OUT };
enum { RANK = 4 };       // of images
enum { MOST = 1 << 20 }; // weights of a filter

ember_limits_s16_t ember_limits_s16_args(ember_node_t *node, uint32_t low,
                                         uint32_t high) {
    const int32_t least = ember_node_int_in(node, low, INT16_MIN, INT16_MAX);

    return (ember_limits_s16_t){
        .low = (int16_t)least,
        .high = (int16_t)ember_node_int_in(node, high, least, INT16_MAX),
    };
}

static bool are_layer(const ember_tensor_t *x, const ember_tensor_t *w, uint32_t rank) {
    return x->dtype == EMBER_S16 && w->dtype == EMBER_S8 && w->rank == rank &&
           ember_tensor_is_contiguous(w);
}

// Takes an output with its shape, which is contiguous or an image.
static ember_status_t set_output(ember_conv_s16_t *s, ember_node_t *node,
                                 const ember_tensor_t *y, bool fits) {
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y->dtype != EMBER_S16 || !fits || (y->data != NULL && y->data == s->x)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "ember: wrong layout of the output");
    }
    s->y = y->data;
    ember_node_work(node, y->numel, EMBER_STEPS_RESULT);
    return EMBER_OK;
}

static ember_status_t set_image(ember_conv_s16_t *s, ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t sizes[RANK] = {conv->batches, conv->filters, conv->height.out,
                                 conv->width.out};
    ember_tensor_t y;

    ember_node_output(node, OUT, RANK, sizes, &y);
    return set_output(s, node, &y, ember_conv_s8_is_image(&y));
}

static ember_status_t read(ember_conv_s16_t *s, ember_node_t *node) {
    const ember_conv_s8_places_t places = {.dilation = 5, .depthwise = s->depthwise};
    ember_conv_s8_t *conv = &s->conv;
    ember_tensor_t x, w;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, W, &w);
    s->limits = ember_limits_s16_args(node, LOW, HIGH);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!are_layer(&x, &w, RANK) || !ember_conv_s8_is_image(&x)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: layout");
    }
    if (!ember_conv_s8_channels(conv, &x, &w, &places) ||
        !ember_conv_s8_geometry(conv, node, &places)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "ember: sizes or parameters do not fit");
    }
    s->x = x.data;
    conv->w = w.data;
    if (ember_conv_s8_scales_args(conv, node, MULTIPLIERS) != EMBER_OK) {
        return ember_node_status(node);
    }
    const int32_t pixels = conv->height.out * conv->width.out;
    ember_node_work(node, (uint32_t)(conv->batches * pixels), w.numel);
    return set_image(s, node);
}

ember_status_t ember_conv_s16_args(ember_conv_s16_t *s, ember_node_t *node) {
    s->depthwise = false;
    return read(s, node);
}

ember_status_t ember_conv_s16_depthwise_args(ember_conv_s16_t *s, ember_node_t *node) {
    s->depthwise = true;
    return read(s, node);
}

// Sets the output's shape: that of `x` with the filters last.
static ember_status_t set_rows(ember_conv_s16_t *s, ember_node_t *node,
                               const ember_tensor_t *x) {
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t y;

    for (uint32_t i = 0; i < x->rank; i++) {
        sizes[i] = x->sizes[i];
    }
    sizes[x->rank - 1u] = s->conv.filters;
    ember_node_output(node, LINEAR_OUT, x->rank, sizes, &y);
    ember_node_work(node, y.numel, (uint32_t)s->conv.depth);
    return set_output(s, node, &y, ember_tensor_is_contiguous(&y));
}

ember_status_t ember_conv_s16_linear_args(ember_conv_s16_t *s, ember_node_t *node) {
    ember_conv_s8_t *conv = &s->conv;
    ember_tensor_t x, w;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, W, &w);
    s->limits = ember_limits_s16_args(node, LINEAR_LOW, LINEAR_HIGH);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!are_layer(&x, &w, 2) || x.rank < 1 || !ember_tensor_is_contiguous(&x)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: layout");
    }
    const int32_t inner = x.sizes[x.rank - 1u];
    if (inner < 1 || inner > MOST || w.sizes[1] != inner || w.sizes[0] < 1) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "ember: sizes do not fit");
    }
    s->depthwise = false;
    s->x = x.data;
    conv->w = w.data;
    ember_conv_s8_of_rows(conv, &x, inner, w.sizes[0]);
    if (ember_conv_s8_scales_args(conv, node, LINEAR_MULTIPLIERS) != EMBER_OK) {
        return ember_node_status(node);
    }
    return set_rows(s, node, &x);
}
