// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions: an output pixel gathers from the input pixels that would
// have scattered to it.
#include "window.h"

enum { MOST = 1 << 14 }; // of a parameter: the output's size cannot overflow

// `adjustment` is added to the output at its end.
static bool read_axis(const ember_xnn_node_t *node, uint32_t before, uint32_t after,
                      uint32_t offset, ember_xnn_axis_t *axis) {
    const uint32_t *params = node->params;
    const uint32_t kernel = params[CONV_KERNEL + offset];
    const uint32_t stride = params[CONV_STRIDE + offset];
    const uint32_t dilation = params[CONV_DILATION + offset];
    const uint32_t adjustment = params[CONV_ADJUSTMENT + offset];
    const int32_t in = node->in[0]->sizes[1 + offset];
    if (kernel - 1 >= MOST || stride - 1 >= MOST || dilation - 1 >= MOST ||
        before >= MOST || after >= MOST || adjustment >= stride || in < 1 ||
        in >= MOST) {
        return false;
    }
    const int64_t out = (int64_t)(in - 1) * stride + (int64_t)(kernel - 1) * dilation +
                        1 + adjustment - before - after;
    *axis = (ember_xnn_axis_t){
        .in = in,
        .out = (int32_t)out,
        .kernel = (int32_t)kernel,
        .stride = (int32_t)stride,
        .dilation = (int32_t)dilation,
        .before = (int32_t)before,
    };
    return out > 0;
}

bool ember_xnn_transposed_read(const ember_xnn_node_t *node,
                               ember_xnn_window_t *window) {
    const ember_xnn_value_t *input = node->in[0];
    const uint32_t *pads = &node->params[CONV_PADDING]; // top, right, bottom, left
    if (input->rank != 4 || input->sizes[3] < 1) {
        return false;
    }
    window->batch = input->sizes[0];
    window->channels = input->sizes[3];
    return read_axis(node, pads[0], pads[2], 0, &window->y) &&
           read_axis(node, pads[3], pads[1], 1, &window->x);
}

ember_status_t ember_xnn_transposed_shape(ember_xnn_graph_t *graph,
                                          ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    return ember_xnn_transposed_read(node, &window) &&
                   ember_xnn_conv_fits(graph, node, &window)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

// The input pixel that tap `k` of an output pixel reads, or -1.
static int32_t source(const ember_xnn_axis_t *axis, int32_t out, int32_t k) {
    const int32_t at = out + axis->before - k * axis->dilation;
    if (at < 0 || at % axis->stride != 0 || at / axis->stride >= axis->in) {
        return -1;
    }
    return at / axis->stride;
}

static void add_taps(ember_xnn_conv_t *conv) {
    const ember_xnn_window_t *window = &conv->window;
    for (int32_t ky = 0; ky < window->y.kernel; ky++) {
        const int32_t y = source(&window->y, conv->y, ky);
        for (int32_t kx = 0; y >= 0 && kx < window->x.kernel; kx++) {
            const int32_t x = source(&window->x, conv->x, kx);
            if (x >= 0) {
                const size_t tap =
                    (size_t)ky * (uint32_t)window->x.kernel + (uint32_t)kx;
                xnn_product_add(&conv->product, conv->a + xnn_pixel(window, y, x),
                                conv->w + tap * conv->inputs, conv->inputs);
            }
        }
    }
}

void ember_xnn_transposed_run(const ember_xnn_node_t *node,
                              const ember_xnn_type_t *type) {
    ember_xnn_conv_t conv;
    (void)!ember_xnn_transposed_read(node, &conv.window);
    if (ember_xnn_conv_start(&conv, node, type)) {
        do {
            add_taps(&conv);
        } while (ember_xnn_conv_next(&conv));
    }
}
