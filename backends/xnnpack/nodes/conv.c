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

// Whether the weights are (outputs, kernel, kernel, inputs of a group).
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

// Starts the sums of the next block of columns, which is in one group.
static void begin_block(ember_xnn_conv_t *conv) {
    ember_xnn_product_t *product = &conv->product;
    const uint32_t group = product->column / conv->outputs;
    const uint32_t left = (group + 1) * conv->outputs - product->column;
    const size_t image = xnn_pixel(&conv->window, conv->window.y.in, 0);
    product->columns = left < XNN_COLUMNS ? left : XNN_COLUMNS;
    conv->a = product->row * image + (size_t)group * conv->inputs;
    conv->w = (size_t)product->column * product->n_step;
    product->type->begin(product);
}

// Adds the taps of a block. Adjacent taps of a row are one run.
static void add_taps(ember_xnn_conv_t *conv) {
    const ember_xnn_axis_t *across = &conv->window.x;
    int32_t y0, y1, x0, x1;
    const int32_t top = xnn_taps(&conv->window.y, conv->y, &y0, &y1);
    const int32_t left = xnn_taps(across, conv->x, &x0, &x1);
    const bool dense = across->dilation == 1 && conv->groups == 1;
    const int32_t run = dense && x1 > x0 ? x1 - x0 : 1;
    for (int32_t ky = y0; ky < y1; ky++) {
        const int32_t y = top + ky * conv->window.y.dilation;
        for (int32_t kx = x0; kx < x1; kx += run) {
            const int32_t x = left + kx * across->dilation;
            const size_t tap = (size_t)ky * (uint32_t)across->kernel + (uint32_t)kx;
            xnn_product_add(&conv->product, conv->a + xnn_pixel(&conv->window, y, x),
                            conv->w + tap * conv->inputs, (uint32_t)run * conv->inputs);
        }
    }
}

// Goes to the next output pixel. False after the last.
static bool next_pixel(ember_xnn_conv_t *conv) {
    if (++conv->x == conv->window.x.out) {
        conv->x = 0;
        if (++conv->y == conv->window.y.out) {
            conv->y = 0;
            conv->product.row++;
        }
    }
    conv->to += (size_t)conv->groups * conv->outputs;
    conv->product.column = 0;
    return conv->product.row < (uint32_t)conv->window.batch;
}

bool ember_xnn_conv_start(ember_xnn_conv_t *conv, const ember_xnn_node_t *node,
                          const ember_xnn_type_t *type) {
    const ember_xnn_window_t window = conv->window;
    *conv = (ember_xnn_conv_t){.window = window};
    start(conv, node, type);
    begin_block(conv);
    return window.batch > 0;
}

bool ember_xnn_conv_next(ember_xnn_conv_t *conv) {
    ember_xnn_product_t *product = &conv->product;
    product->type->end(product, conv->to + product->column);
    product->column += product->columns;
    if (product->column == conv->groups * conv->outputs && !next_pixel(conv)) {
        return false;
    }
    begin_block(conv);
    return true;
}

void ember_xnn_conv_run(const ember_xnn_node_t *node, const ember_xnn_type_t *type) {
    ember_xnn_conv_t conv;
    (void)!ember_xnn_window_read(node, &conv.window);
    if (ember_xnn_conv_start(&conv, node, type)) {
        do {
            add_taps(&conv);
        } while (ember_xnn_conv_next(&conv));
    }
}
