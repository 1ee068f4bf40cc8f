// SPDX-License-Identifier: Apache-2.0
// Dynamically quantised input, int8 weights with a scale per channel: (sum * scale of
// the row) * scale of the column + bias, the last two fused.
#include "product.h"

#include <math.h>

bool ember_xnn_is_qd8(const ember_xnn_node_t *node) {
    const ember_xnn_value_t *bias = node->in[2];
    const uint32_t out = node->out[0]->datatype;
    return node->in[0]->datatype == XNN_QDS8 && (out == XNN_F32 || out == XNN_F16) &&
           node->in[1]->place == XNN_CONSTANT &&
           (bias == NULL || bias->datatype == XNN_F32 || bias->datatype == XNN_F16);
}

static float bias_of(const ember_xnn_value_t *bias, uint32_t column) {
    if (bias == NULL) {
        return 0.0f;
    }
    return bias->datatype == XNN_F32
               ? ((const float *)bias->constant)[column]
               : ember_f32_from_f16(((const uint16_t *)bias->constant)[column]);
}

void ember_xnn_end_qd8(const ember_xnn_product_t *product, const float *numbers,
                       const float *factors, size_t y) {
    const ember_xnn_node_t *node = product->node;
    const ember_xnn_value_t *value = node->out[0];
    for (uint32_t i = 0; i < product->columns; i++) {
        const float bias = bias_of(product->bias, product->column + i);
        const float number =
            factors != NULL ? fmaf(numbers[i], factors[i], bias) : numbers[i] + bias;
        const float bounded = xnn_clamp(number, node->low, node->high);
        if (value->datatype == XNN_F32) {
            ((float *)value->data)[y + i] = bounded;
        } else {
            ((uint16_t *)value->data)[y + i] = ember_f16_from_f32(bounded);
        }
    }
}

static ember_status_t check(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *weights = node->in[1];
    return ember_xnn_is_qd8(node) && weights->datatype == XNN_QCS8 &&
                   weights->sizes[weights->group] == xnn_size(node->out[0], 0)
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static void begin(ember_xnn_product_t *product) {
    memset(&product->sum, 0, sizeof(product->sum));
}

static void add(ember_xnn_product_t *product, size_t a, size_t w, uint32_t count) {
    ember_xnn_add_s8(product, a, w, count, xnn_rows(product->input)[product->row].zero);
}

static void end(const ember_xnn_product_t *product, size_t y) {
    const float scale = xnn_rows(product->input)[product->row].scale;
    float numbers[XNN_COLUMNS];
    for (uint32_t i = 0; i < product->columns; i++) {
        numbers[i] = (float)(int32_t)product->sum.u32[i] * scale;
    }
    ember_xnn_end_qd8(product, numbers,
                      (const float *)product->weights->scales + product->column, y);
}

const ember_xnn_type_t ember_xnn_type_qd8 = {check, begin, add, end};
