// SPDX-License-Identifier: Apache-2.0
// float32: each product is fused with the sum, in order, after the bias.
#include "product.h"

#include <math.h>

static ember_status_t check(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return xnn_product_is(node, XNN_F32) ? EMBER_OK : EMBER_UNSUPPORTED;
}

static void add(ember_xnn_product_t *product, size_t a, size_t w, uint32_t count) {
    const float *x = (const float *)product->input->constant + a;
    const float *w0 = (const float *)product->weights->constant + w;
    const float *w1 = w0 + (size_t)product->n_step * xnn_column(product, 1);
    const float *w2 = w0 + (size_t)product->n_step * xnn_column(product, 2);
    const float *w3 = w0 + (size_t)product->n_step * xnn_column(product, 3);
    const size_t step = product->k_step;
    float s0 = product->sum.f32[0];
    float s1 = product->sum.f32[1];
    float s2 = product->sum.f32[2];
    float s3 = product->sum.f32[3];
    for (size_t i = 0, at = 0; i < count; i++, at += step) {
        s0 = fmaf(x[i], w0[at], s0);
        s1 = fmaf(x[i], w1[at], s1);
        s2 = fmaf(x[i], w2[at], s2);
        s3 = fmaf(x[i], w3[at], s3);
    }
    product->sum.f32[0] = s0;
    product->sum.f32[1] = s1;
    product->sum.f32[2] = s2;
    product->sum.f32[3] = s3;
}

static void end(const ember_xnn_product_t *product, size_t y) {
    const ember_xnn_node_t *node = product->node;
    float *out = (float *)node->out[0]->data + y;
    for (uint32_t i = 0; i < product->columns; i++) {
        out[i] = xnn_clamp(product->sum.f32[i], node->low, node->high);
    }
}

const ember_xnn_type_t ember_xnn_type_f32 = {check, xnn_product_begin_f32, add, end};
