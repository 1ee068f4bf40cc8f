// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions: weights (1, kh, kw, c * multiplier). The sums of all channels
// of a pixel are kept in scratch while the taps are added one by one.
#include "depthwise.h"

uint32_t ember_xnn_depthwise_outputs(const ember_xnn_node_t *node) {
    return node->params[CONV_GROUPS] * node->params[CONV_GROUP_OUTPUTS];
}

ember_status_t ember_xnn_depthwise_shape(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node) {
    const ember_xnn_value_t *weights = node->in[1];
    const uint32_t *params = node->params;
    const uint64_t outputs = (uint64_t)params[CONV_GROUPS] * params[CONV_GROUP_OUTPUTS];
    ember_xnn_window_t window;
    if (!ember_xnn_window_read(node, &window) || params[CONV_GROUP_INPUTS] != 1 ||
        (uint32_t)window.channels != params[CONV_GROUPS] || outputs == 0 ||
        weights->rank != 4 || weights->place != XNN_CONSTANT ||
        weights->sizes[0] != 1 || weights->sizes[1] != window.y.kernel ||
        weights->sizes[2] != window.x.kernel ||
        (uint64_t)weights->sizes[3] != outputs ||
        !xnn_bias_fits(node->in[2], (uint32_t)outputs) ||
        !ember_xnn_window_output(graph, node, &window, weights->sizes[3])) {
        return ember_xnn_bad_shape(graph);
    }
    return EMBER_OK;
}

ember_status_t ember_xnn_depthwise_prepare(ember_xnn_graph_t *graph,
                                           ember_xnn_node_t *node,
                                           const ember_xnn_type_t *type) {
    const ember_xnn_value_t *weights = node->in[1];
    if (node->flags != 0 || (weights->datatype == XNN_QCS8 && weights->group != 3)) {
        return EMBER_UNSUPPORTED;
    }
    node->scratch = 4 * ember_xnn_depthwise_outputs(node);
    return type->check(graph, node);
}

// A tap of the window whose tap 0 is at (top, left), in an image that begins at
// `image`.
static void add_tap(const ember_xnn_depthwise_t *depthwise,
                    const ember_xnn_window_t *window, int32_t y, int32_t x,
                    size_t image, int32_t ky, int32_t kx, void *sums) {
    const size_t row = image + (uint32_t)(y + ky * window->y.dilation);
    const size_t at =
        row * (uint32_t)window->x.in + (uint32_t)(x + kx * window->x.dilation);
    const int32_t tap = ky * window->x.kernel + kx;
    const int32_t turn =
        xnn_by_columns(depthwise->node) ? kx * window->y.kernel + ky : tap;
    depthwise->add(depthwise->node, sums, at * (uint32_t)window->channels,
                   (uint32_t)tap * (size_t)depthwise->channels, (uint32_t)turn);
}

static void add_taps(const ember_xnn_depthwise_t *depthwise,
                     const ember_xnn_window_t *window, int32_t oy, int32_t ox,
                     size_t image, void *sums) {
    int32_t y0, y1, x0, x1;
    const int32_t top = xnn_taps(&window->y, oy, &y0, &y1);
    const int32_t left = xnn_taps(&window->x, ox, &x0, &x1);
    if (xnn_by_columns(depthwise->node)) {
        for (int32_t kx = x0; kx < x1; kx++) {
            for (int32_t ky = y0; ky < y1; ky++) {
                add_tap(depthwise, window, top, left, image, ky, kx, sums);
            }
        }
    } else {
        for (int32_t ky = y0; ky < y1; ky++) {
            for (int32_t kx = x0; kx < x1; kx++) {
                add_tap(depthwise, window, top, left, image, ky, kx, sums);
            }
        }
    }
}

void ember_xnn_depthwise_run(const ember_xnn_graph_t *graph,
                             const ember_xnn_node_t *node, const ember_xnn_type_t *type,
                             const ember_xnn_depthwise_t *depthwise) {
    ember_xnn_window_t window;
    ember_xnn_product_t product;
    const uint32_t channels = depthwise->channels;
    ember_xnn_product_begin(&product, type, node);
    (void)!ember_xnn_window_read(node, &window);
    size_t y = 0;
    for (int32_t b = 0; b < window.batch; b++) {
        const size_t image = (size_t)b * (uint32_t)window.y.in;
        for (int32_t oy = 0; oy < window.y.out; oy++) {
            for (int32_t ox = 0; ox < window.x.out; ox++, y += channels) {
                ember_xnn_columns_begin(&product, channels, graph->work);
                add_taps(depthwise, &window, oy, ox, image, graph->work);
                if (depthwise->end != NULL) {
                    depthwise->end(node, graph->work);
                }
                ember_xnn_columns_end(&product, channels, graph->work, y);
            }
        }
    }
}
