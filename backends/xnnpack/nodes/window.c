// SPDX-License-Identifier: Apache-2.0
#include "window.h"

enum { MOST = 1 << 20 }; // of a parameter: sums and products of two do not overflow

// Parameters of one direction: `pads` before and after, and indices of the others.
static bool read_axis(const uint32_t *params, uint32_t before, uint32_t after,
                      uint32_t offset, int32_t in, ember_xnn_axis_t *axis) {
    const uint32_t kernel = params[POOL_KERNEL + offset];
    const uint32_t stride = params[POOL_STRIDE + offset];
    uint32_t dilation = params[POOL_DILATION + offset];
    dilation += dilation == 0; // average pools have 0
    if (kernel - 1 >= MOST || stride - 1 >= MOST || dilation - 1 >= MOST ||
        before >= MOST || after >= MOST || in < 1) {
        return false;
    }
    const int64_t covered = (int64_t)(kernel - 1) * dilation + 1;
    const int64_t room = (int64_t)in + before + after - covered;
    *axis = (ember_xnn_axis_t){
        .in = in,
        .out = (int32_t)(room / stride) + 1,
        .kernel = (int32_t)kernel,
        .stride = (int32_t)stride,
        .dilation = (int32_t)dilation,
        .before = (int32_t)before,
    };
    return room >= 0;
}

bool ember_xnn_window_read(const ember_xnn_node_t *node, ember_xnn_window_t *window) {
    const ember_xnn_value_t *input = node->in[0];
    const uint32_t *pads = &node->params[POOL_PADDING]; // top, right, bottom, left
    if (input->rank != 4 || input->sizes[3] < 1) {
        return false;
    }
    window->batch = input->sizes[0];
    window->channels = input->sizes[3];
    return read_axis(node->params, pads[0], pads[2], 0, input->sizes[1], &window->y) &&
           read_axis(node->params, pads[3], pads[1], 1, input->sizes[2], &window->x);
}

bool ember_xnn_window_output(const ember_xnn_graph_t *graph,
                             const ember_xnn_node_t *node,
                             const ember_xnn_window_t *window, int32_t channels) {
    const int32_t sizes[] = {window->batch, window->y.out, window->x.out, channels};
    return ember_xnn_resize(graph, node->out[0], 4, sizes);
}
