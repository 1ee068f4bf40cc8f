// SPDX-License-Identifier: Apache-2.0
// The arguments of convolutions by Winograd. Contract: winograd_s8.h.
#include "kernels/engine/int8/winograd_s8.h"

enum { X, W, OFFSET = 6, Y_OFFSET, MULTIPLIERS, LOW = 10, HIGH, OUT = 13 };
enum { RANK = 4 };                                   // of images
enum { TAPS = 3, PAIR = 2, EIGHT = 8, MOST = 1024 }; // channels: sums fit

// Sets the sizes of image and filters; false if they are not as winograd_s8.h says.
static bool set_sizes(ember_conv_s8_t *conv, const ember_tensor_t *x,
                      const ember_tensor_t *w) {
    const ember_conv_s8_places_t places = {.depthwise = false};
    const bool fits = ember_conv_s8_channels(conv, x, w, &places);

    conv->height.kernel = TAPS;
    conv->width.kernel = TAPS;
    return fits && w->sizes[1] == EMBER_WINOGRAD_SIDE &&
           w->sizes[2] == EMBER_WINOGRAD_SIDE && conv->depth == conv->channels &&
           conv->channels % EIGHT == 0 && conv->channels <= MOST &&
           conv->filters % PAIR == 0;
}

static bool set_geometry(ember_conv_s8_t *conv, ember_node_t *node) {
    static const ember_conv_s8_places_t places = {.dilation = 5};

    return ember_conv_s8_geometry(conv, node, &places) && conv->height.stride == 1 &&
           conv->width.stride == 1 && conv->height.dilation == 1 &&
           conv->width.dilation == 1;
}

ember_status_t ember_winograd_s8_args(ember_conv_s8_t *conv, ember_node_t *node,
                                      const int16_t **weights) {
    ember_tensor_t x, w;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, W, &w);
    conv->x_offset = (int16_t)ember_zero_point_arg(node, OFFSET);
    conv->scales.zero_point = (int16_t)ember_zero_point_arg(node, Y_OFFSET);
    conv->scales.limits = ember_limits_s8_args(node, LOW, HIGH);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_S8 || w.dtype != EMBER_S16 || w.rank != RANK ||
        !ember_conv_s8_is_image(&x) || !ember_tensor_is_contiguous(&w)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "ember: layout");
    }
    if (!set_sizes(conv, &x, &w) || !set_geometry(conv, node)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "ember: sizes or parameters do not fit");
    }
    conv->x = x.data;
    conv->w = NULL;
    *weights = w.data;
    if (ember_conv_s8_scales_args(conv, node, MULTIPLIERS) != EMBER_OK ||
        ember_conv_s8_output(conv, node, OUT) != EMBER_OK) {
        return ember_node_status(node);
    }
    const int32_t pixels = conv->height.out * conv->width.out;
    ember_node_work(node, (uint32_t)(conv->batches * pixels), w.numel);
    conv->over = conv->y != NULL && conv->y == conv->x;
    if (conv->over) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "ember: an output lies over its input");
    }
    return EMBER_OK;
}
