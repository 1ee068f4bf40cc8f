// SPDX-License-Identifier: Apache-2.0
// Convolutions of images (n, h, w, c) with weights (o, kh, kw, c / groups).
#include "window.h"

static bool groups_fit(const ember_xnn_node_t *node, int32_t channels) {
    const uint32_t *params = node->params;
    const uint64_t inputs = (uint64_t)params[CONV_GROUPS] * params[CONV_GROUP_INPUTS];
    const uint64_t outputs = (uint64_t)params[CONV_GROUPS] * params[CONV_GROUP_OUTPUTS];
    return inputs == (uint32_t)channels && outputs <= INT32_MAX && outputs > 0;
}

static uint32_t outputs_of(const ember_xnn_node_t *node) {
    return node->params[CONV_GROUPS] * node->params[CONV_GROUP_OUTPUTS];
}

// Are the weights (outputs, kernel, kernel, inputs of a group)?
static bool weights_fit(const ember_xnn_node_t *node) {
    const ember_xnn_value_t *weights = node->in[1];
    const uint32_t *params = node->params;
    return weights->rank == 4 && weights->place == XNN_CONSTANT &&
           (uint32_t)weights->sizes[0] == outputs_of(node) &&
           (uint32_t)weights->sizes[1] == params[CONV_KERNEL] &&
           (uint32_t)weights->sizes[2] == params[CONV_KERNEL + 1] &&
           (uint32_t)weights->sizes[3] == params[CONV_GROUP_INPUTS] &&
           xnn_bias_fits(node->in[2], outputs_of(node));
}

bool ember_xnn_conv_fits(ember_xnn_graph_t *graph, const ember_xnn_node_t *node,
                         const ember_xnn_window_t *window) {
    return groups_fit(node, window->channels) && weights_fit(node) &&
           ember_xnn_window_output(graph, node, window, (int32_t)outputs_of(node));
}

ember_status_t ember_xnn_conv_shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    return ember_xnn_window_read(node, &window) &&
                   ember_xnn_conv_fits(graph, node, &window)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

ember_status_t ember_xnn_conv_prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                      const ember_xnn_type_t *type) {
    const ember_xnn_value_t *input = node->in[0];
    const ember_xnn_value_t *weights = node->in[1];
    if (node->flags != 0 || (input->datatype == XNN_QDS8 && input->group != 3) ||
        (weights->datatype == XNN_QCS8 && weights->group != 0)) {
        return EMBER_UNSUPPORTED;
    }
    return type->check(graph, node);
}

static void start(ember_xnn_conv_t *conv, const ember_xnn_node_t *node,
                  const ember_xnn_type_t *type) {
    const uint32_t *params = node->params;
    ember_xnn_product_begin(&conv->product, type, node);
    conv->inputs = params[CONV_GROUP_INPUTS];
    conv->outputs = params[CONV_GROUP_OUTPUTS];
    conv->groups = params[CONV_GROUPS];
    conv->product.k_step = 1;
    conv->product.n_step = params[CONV_KERNEL] * params[CONV_KERNEL + 1] * conv->inputs;
}

// Adds the taps of one output pixel; `a` and `w` are where the image and the weights of
// the block begin. Taps across that lie behind each other are one run.
static void add_taps(ember_xnn_conv_t *conv, int32_t oy, int32_t ox, size_t a,
                     size_t w) {
    const ember_xnn_axis_t *across = &conv->window.x;
    int32_t y0, y1, x0, x1;
    const int32_t top = xnn_taps(&conv->window.y, oy, &y0, &y1);
    const int32_t left = xnn_taps(across, ox, &x0, &x1);
    const bool dense = across->dilation == 1 && conv->groups == 1;
    const int32_t run = dense && x1 > x0 ? x1 - x0 : 1;
    for (int32_t ky = y0; ky < y1; ky++) {
        const int32_t y = top + ky * conv->window.y.dilation;
        for (int32_t kx = x0; kx < x1; kx += run) {
            const int32_t x = left + kx * across->dilation;
            const size_t tap = (size_t)ky * (uint32_t)across->kernel + (uint32_t)kx;
            conv->product.type->add(&conv->product, a + xnn_pixel(&conv->window, y, x),
                                    w + tap * conv->inputs,
                                    (uint32_t)run * conv->inputs);
        }
    }
}

// All output channels of one pixel, from index `y` of the output on.
static void run_pixel(ember_xnn_conv_t *conv, ember_xnn_taps_fn taps, int32_t oy,
                      int32_t ox, size_t a, size_t y) {
    ember_xnn_product_t *product = &conv->product;
    for (uint32_t g = 0; g < conv->groups; g++) {
        for (uint32_t n = 0; n < conv->outputs; n += XNN_COLUMNS) {
            const uint32_t left = conv->outputs - n;
            product->column = g * conv->outputs + n;
            product->columns = left < XNN_COLUMNS ? left : XNN_COLUMNS;
            product->type->begin(product);
            taps(conv, oy, ox, a + (size_t)g * conv->inputs,
                 (size_t)product->column * product->n_step);
            product->type->end(product, y + product->column);
        }
    }
}

void ember_xnn_conv_walk(ember_xnn_conv_t *conv, const ember_xnn_node_t *node,
                         const ember_xnn_type_t *type, ember_xnn_taps_fn taps) {
    start(conv, node, type);
    const ember_xnn_window_t *window = &conv->window;
    const size_t image = xnn_pixel(window, window->y.in, 0);
    size_t y = 0;
    for (int32_t b = 0; b < window->batch; b++) {
        conv->product.row = (uint32_t)b;
        for (int32_t oy = 0; oy < window->y.out; oy++) {
            for (int32_t ox = 0; ox < window->x.out; ox++) {
                run_pixel(conv, taps, oy, ox, (size_t)b * image, y);
                y += (size_t)conv->groups * conv->outputs;
            }
        }
    }
}

void ember_xnn_conv_run(const ember_xnn_node_t *node, const ember_xnn_type_t *type) {
    ember_xnn_conv_t conv;
    (void)!ember_xnn_window_read(node, &conv.window);
    ember_xnn_conv_walk(&conv, node, type, add_taps);
}
