// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes that are functions of mathf.h.
#include "elements.h"

typedef float (*function_fn)(float x);

static const function_fn functions[] = {
    [XNN_COS] = ember_cosf,   [XNN_EXP] = ember_expf, [XNN_GELU] = ember_geluf,
    [XNN_LOG] = ember_logf,   [XNN_SIN] = ember_sinf, [XNN_SIGMOID] = ember_sigmoidf,
    [XNN_TANH] = ember_tanhf,
};

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_unary_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const function_fn function = functions[node->kind];
    float x[XNN_CHUNK];
    const uint32_t numel = node->out[0]->numel;
    for (uint32_t at = 0; at < numel; at += XNN_CHUNK) {
        const uint32_t count = numel - at < XNN_CHUNK ? numel - at : XNN_CHUNK;
        ember_xnn_load(node->in[0], xnn_at(node->in[0], at), 1, count, x);
        for (uint32_t i = 0; i < count; i++) {
            x[i] = function(x[i]);
        }
        ember_xnn_store(node, xnn_at(node->out[0], at), count, x);
    }
}

XNN_KERNEL(unary_math, NULL, ember_xnn_shape_same,
           XNN_KIND(COS) | XNN_KIND(EXP) | XNN_KIND(GELU) | XNN_KIND(LOG) |
               XNN_KIND(SIN) | XNN_KIND(SIGMOID) | XNN_KIND(TANH));
