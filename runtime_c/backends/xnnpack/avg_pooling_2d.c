// SPDX-License-Identifier: Apache-2.0
// The mean of each window, its padding not counted; and of whole images.
#include "pooling.h"

static void take(ember_xnn_pool_t *pool) {
    if (pool->taps == 0) {
        memcpy(pool->y, pool->x, 4 * (size_t)pool->count);
        return;
    }
    for (uint32_t i = 0; i < pool->count; i++) {
        pool->y[i] += pool->x[i];
    }
}

static void finish(ember_xnn_pool_t *pool) {
    const float factor = 1.0f / (float)(pool->taps > 0 ? pool->taps : 1);
    for (uint32_t i = 0; i < pool->count; i++) {
        pool->y[i] *= factor;
    }
}

// A whole image is one window.
static bool read_window(const ember_xnn_node_t *node, ember_xnn_window_t *window) {
    if (node->kind != XNN_GLOBAL_AVG_POOLING_2D) {
        return ember_xnn_window_read(node, window);
    }
    const ember_xnn_value_t *input = node->in[0];
    const int32_t height = input->sizes[1];
    const int32_t width = input->sizes[2];
    if (input->rank != 4 || height < 1 || width < 1) {
        return false;
    }
    *window = (ember_xnn_window_t){
        .y = {height, 1, height, 1, 1, 0},
        .x = {width, 1, width, 1, 1, 0},
        .batch = input->sizes[0],
        .channels = input->sizes[3],
    };
    return true;
}

static ember_status_t shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    if (!read_window(node, &window)) {
        return ember_xnn_bad_shape(graph);
    }
    const bool global = node->kind == XNN_GLOBAL_AVG_POOLING_2D;
    const int32_t flat[] = {window.batch, window.channels};
    const bool fits =
        global && (node->flags & FLAG_KEEP_DIMS) == 0
            ? ember_xnn_resize(graph, node->out[0], 2, flat)
            : ember_xnn_window_output(graph, node, &window, window.channels);
    return fits ? EMBER_OK : ember_xnn_bad_shape(graph);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const bool known = (node->flags & ~(uint32_t)FLAG_KEEP_DIMS) == 0;
    return known ? ember_xnn_unary_prepare(graph, node) : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_window_t window;
    (void)read_window(node, &window);
    ember_xnn_pool_run(node, &window, take, finish);
}

XNN_KERNEL(avg_pooling_2d, NULL, shape,
           XNN_KIND(AVG_POOLING_2D) | XNN_KIND(GLOBAL_AVG_POOLING_2D));
