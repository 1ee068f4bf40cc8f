// SPDX-License-Identifier: Apache-2.0
// float16 in and out; sums in float32 as for float32, rounded once at the end. Weights
// and bias may be float32: convolutions are exported like this.
#include "product.h"

#include <math.h>

enum { CHUNK = 32 }; // elements that are converted at a time

static bool is_float(const ember_xnn_value_t *value) {
    return value == NULL || value->datatype == XNN_F16 || value->datatype == XNN_F32;
}

static ember_status_t check(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return xnn_types(node, XNN_F16, XNN_F16) && is_float(node->in[1]) &&
                   is_float(node->in[2])
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static void begin(ember_xnn_product_t *product) {
    for (uint32_t i = 0; i < XNN_COLUMNS; i++) {
        const uint32_t column = product->column + xnn_column(product, i);
        product->sum.f32[i] =
            product->bias != NULL ? xnn_f16(product->bias, column) : 0.0f;
    }
}

static void add(ember_xnn_product_t *product, size_t a, size_t w, uint32_t count) {
    float x[CHUNK];
    while (count > 0) {
        const uint32_t part = count < CHUNK ? count : CHUNK;
        for (uint32_t i = 0; i < part; i++) {
            x[i] = xnn_f16(product->input, a + i);
        }
        for (uint32_t n = 0; n < product->columns; n++) {
            size_t at = w + (size_t)n * product->n_step;
            float sum = product->sum.f32[n];
            for (uint32_t i = 0; i < part; i++, at += product->k_step) {
                sum = fmaf(x[i], xnn_f16(product->weights, at), sum);
            }
            product->sum.f32[n] = sum;
        }
        a += part;
        w += (size_t)part * product->k_step;
        count -= part;
    }
}

static void end(const ember_xnn_product_t *product, size_t y) {
    const ember_xnn_node_t *node = product->node;
    uint16_t *out = (uint16_t *)node->out[0]->data + y;
    for (uint32_t i = 0; i < product->columns; i++) {
        out[i] =
            ember_f16_from_f32(xnn_clamp(product->sum.f32[i], node->low, node->high));
    }
}

const ember_xnn_type_t ember_xnn_type_f16 = {check, begin, add, end};
