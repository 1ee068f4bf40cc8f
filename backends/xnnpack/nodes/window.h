// SPDX-License-Identifier: Apache-2.0
// Windows over images (n, h, w, c): convolutions and pooling.
#ifndef EMBER_XNNPACK_WINDOW_H
#define EMBER_XNNPACK_WINDOW_H

#include "product.h"

// One direction, vertical or horizontal; all in pixels.
typedef struct ember_xnn_axis {
    int32_t in;
    int32_t out;
    int32_t kernel;
    int32_t stride;
    int32_t dilation;
    int32_t before; // padding
} ember_xnn_axis_t;

typedef struct ember_xnn_window {
    ember_xnn_axis_t y;
    ember_xnn_axis_t x;
    int32_t batch;
    int32_t channels; // of the input
} ember_xnn_window_t;

// Reads the first ten parameters of a convolution or pooling, and the input's sizes,
// and computes the output's. False if they do not fit.
EMBER_MUST_USE bool ember_xnn_window_read(const ember_xnn_node_t *node,
                                          ember_xnn_window_t *window);

// The output (n, h, w, channels).
EMBER_MUST_USE bool ember_xnn_window_output(const ember_xnn_graph_t *graph,
                                            const ember_xnn_node_t *node,
                                            const ember_xnn_window_t *window,
                                            int32_t channels);

// Taps [first, end) of output pixel `at` are in the image; returns the place of tap 0.
static inline int32_t xnn_taps(const ember_xnn_axis_t *axis, int32_t at, int32_t *first,
                               int32_t *end) {
    const int32_t start = at * axis->stride - axis->before;
    const int32_t room = axis->in - start + axis->dilation - 1;
    *first = start < 0 ? (-start + axis->dilation - 1) / axis->dilation : 0;
    *end = room > 0 ? room / axis->dilation : 0;
    *end = *end < axis->kernel ? *end : axis->kernel;
    return start;
}

// --- convolutions, for kernels conv_2d_* and conv_transpose_2d_* ---------------------

// A convolution in progress: a block of columns of an output pixel.
typedef struct ember_xnn_conv {
    ember_xnn_product_t product; // `row` is the image
    ember_xnn_window_t window;
    uint32_t inputs; // channels of a group
    uint32_t outputs;
    uint32_t groups;
    int32_t y; // of the output
    int32_t x;
    size_t to; // where the pixel is in the output
    size_t a;  // where the group's channels of the image begin
    size_t w;  // where the weights of the block begin
} ember_xnn_conv_t;

// Where a pixel of an image begins, in elements.
static inline size_t xnn_pixel(const ember_xnn_window_t *window, int32_t y, int32_t x) {
    return ((size_t)y * (uint32_t)window->x.in + (uint32_t)x) *
           (uint32_t)window->channels;
}

// Goes to the first block, whose sums begin with the bias; conv->window is set. False
// if there is none.
EMBER_MUST_USE bool ember_xnn_conv_start(ember_xnn_conv_t *conv,
                                         const ember_xnn_node_t *node,
                                         const ember_xnn_type_t *type);

// Writes the block after its taps were added, and goes to the next. False after the
// last.
EMBER_MUST_USE bool ember_xnn_conv_next(ember_xnn_conv_t *conv);

// Checks groups, weights and bias, and sizes the output.
EMBER_MUST_USE bool ember_xnn_conv_fits(ember_xnn_graph_t *graph,
                                        const ember_xnn_node_t *node,
                                        const ember_xnn_window_t *window);

ember_status_t ember_xnn_conv_shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node);
ember_status_t ember_xnn_conv_prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                      const ember_xnn_type_t *type);
void ember_xnn_conv_run(const ember_xnn_node_t *node, const ember_xnn_type_t *type);

// Reads parameters and sizes of a transposed convolution. False if they do not fit.
EMBER_MUST_USE bool ember_xnn_transposed_read(const ember_xnn_node_t *node,
                                              ember_xnn_window_t *window);
ember_status_t ember_xnn_transposed_shape(ember_xnn_graph_t *graph,
                                          ember_xnn_node_t *node);
void ember_xnn_transposed_run(const ember_xnn_node_t *node,
                              const ember_xnn_type_t *type);

#endif // EMBER_XNNPACK_WINDOW_H
