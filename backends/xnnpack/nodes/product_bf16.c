// SPDX-License-Identifier: Apache-2.0
// bfloat16 in and out, with a float32 bias; sums in float32, rounded once at the end.
// Products of two bfloat16 are exact in float32.
#include "product.h"

static ember_status_t check(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return xnn_product_is(node, XNN_BF16) ? EMBER_OK : EMBER_UNSUPPORTED;
}

static void add(ember_xnn_product_t *product, size_t a, size_t w, uint32_t count) {
    const uint16_t *x = (const uint16_t *)product->input->constant + a;
    const uint16_t *weights = (const uint16_t *)product->weights->constant + w;
    const size_t step = product->k_step;
    for (uint32_t n = 0; n < product->columns; n++) {
        const uint16_t *column = weights + (size_t)n * product->n_step;
        float sum = product->sum.f32[n];
        for (uint32_t i = 0; i < count; i++) {
            sum += ember_f32_from_bf16(x[i]) * ember_f32_from_bf16(column[i * step]);
        }
        product->sum.f32[n] = sum;
    }
}

static void end(const ember_xnn_product_t *product, size_t y) {
    const ember_xnn_node_t *node = product->node;
    uint16_t *out = (uint16_t *)node->out[0]->data + y;
    for (uint32_t i = 0; i < product->columns; i++) {
        out[i] =
            ember_bf16_from_f32(xnn_clamp(product->sum.f32[i], node->low, node->high));
    }
}

const ember_xnn_type_t ember_xnn_type_bf16 = {check, xnn_product_begin_f32, add, end};
