// SPDX-License-Identifier: Apache-2.0
// Softmax along the innermost dimension, see softmax.h.
#include "softmax.h"

static float largest(const float *x, uint32_t count) {
    float found = x[0];
    for (uint32_t i = 1; i < count; i++) {
        found = x[i] > found ? x[i] : found;
    }
    return found;
}

static void compute(float *x, uint32_t count) {
    const float top = largest(x, count);
    float sum = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = ember_expf(x[i] - top);
        sum += x[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        x[i] *= 1.0f / sum;
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_softmax_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_softmax_run(graph, node, compute);
}

XNN_KERNEL(softmax, NULL, ember_xnn_softmax_shape, XNN_KIND(SOFTMAX));
