// SPDX-License-Identifier: Apache-2.0
// The maximum of each window.
#include "pooling.h"

static void take(ember_xnn_pool_t *pool) {
    for (uint32_t i = 0; i < pool->count; i++) {
        const bool more = pool->taps == 0 || pool->x[i] > pool->y[i];
        pool->y[i] = more ? pool->x[i] : pool->y[i];
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const bool known = (node->flags & ~(uint32_t)FLAG_KEEP_DIMS) == 0;
    return known ? ember_xnn_unary_prepare(graph, node) : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_window_t window;
    ember_xnn_pool_t pool;
    (void)!ember_xnn_window_read(node, &window);
    ember_xnn_pool_run(node, &window, &pool, take, NULL);
}

XNN_KERNEL(max_pooling_2d, NULL, ember_xnn_pool_shape, XNN_KIND(MAX_POOLING_2D));
