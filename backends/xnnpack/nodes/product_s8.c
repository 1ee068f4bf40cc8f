// SPDX-License-Identifier: Apache-2.0
// Static int8: exact int32 sums, brought to the output's scale in float32. Weights with
// one scale or one per channel.
#include "product.h"

// The scale of a column: in * weights / out, in this order.
float ember_xnn_qs8_scale(const ember_xnn_node_t *node, uint32_t column) {
    const ember_xnn_value_t *weights = node->in[1];
    const float *scales = weights->scales;
    const float own = weights->datatype == XNN_QCS8 ? scales[column] : weights->scale;
    return node->in[0]->scale * own / node->out[0]->scale;
}

bool ember_xnn_qs8_fits(const ember_xnn_node_t *node, uint32_t columns) {
    const ember_xnn_value_t *weights = node->in[1];
    const ember_xnn_value_t *bias = node->in[2];
    const bool channels = weights->datatype == XNN_QCS8;
    return xnn_types(node, XNN_QS8, XNN_QS8) && weights->place == XNN_CONSTANT &&
           (channels || (weights->datatype == XNN_QS8 && weights->zero == 0)) &&
           (!channels || (weights->sizes[weights->group] == (int32_t)columns &&
                          (weights->scales != NULL || columns == 0))) &&
           (bias == NULL || bias->datatype == XNN_QS32 ||
            bias->datatype == XNN_QCS32) &&
           xnn_is_scale(node->out[0]->scale);
}

// Keeps the scales of all columns.
static ember_status_t check(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const uint32_t columns = (uint32_t)xnn_size(node->out[0], 0);
    if (!ember_xnn_qs8_fits(node, columns)) {
        return EMBER_UNSUPPORTED;
    }
    float *scales = ember_arena_alloc(graph->info->arena, 4 * (size_t)columns, 4);
    if (scales == NULL) {
        return EMBER_NO_MEMORY;
    }
    for (uint32_t i = 0; i < columns; i++) {
        scales[i] = ember_xnn_qs8_scale(node, i);
    }
    node->scales = scales;
    return EMBER_OK;
}

static void begin(ember_xnn_product_t *product) {
    const uint32_t *bias = product->bias != NULL ? product->bias->constant : NULL;
    for (uint32_t i = 0; i < XNN_COLUMNS; i++) {
        const uint32_t column = product->column + xnn_column(product, i);
        product->sum.u32[i] = bias != NULL ? bias[column] : 0;
    }
}

static void add(ember_xnn_product_t *product, size_t a, size_t w, uint32_t count) {
    ember_xnn_add_s8(product, a, w, count, product->input->zero);
}

static void end(const ember_xnn_product_t *product, size_t y) {
    const ember_xnn_node_t *node = product->node;
    const float *scales = node->scales + product->column;
    int8_t *out = (int8_t *)node->out[0]->data + y;
    for (uint32_t i = 0; i < product->columns; i++) {
        out[i] = xnn_quantize((float)(int32_t)product->sum.u32[i] * scales[i],
                              &product->range);
    }
}

const ember_xnn_type_t ember_xnn_type_qs8 = {check, begin, add, end};
