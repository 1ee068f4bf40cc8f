// SPDX-License-Identifier: Apache-2.0
#include "product.h"

void ember_xnn_product_begin(ember_xnn_product_t *product, const ember_xnn_type_t *type,
                             const ember_xnn_node_t *node) {
    *product = (ember_xnn_product_t){
        .type = type,
        .node = node,
        .input = node->in[0],
        .weights = node->in[1],
        .bias = node->in[2],
    };
    if (node->out[0]->datatype == XNN_QS8) {
        (void)ember_xnn_range(node, &product->range);
    }
}

void ember_xnn_add_s8(ember_xnn_product_t *product, size_t a, size_t w, uint32_t count,
                      int32_t zero) {
    const int8_t *x = (const int8_t *)product->input->constant + a;
    const int8_t *w0 = (const int8_t *)product->weights->constant + w;
    const int8_t *w1 = w0 + (size_t)product->n_step * xnn_column(product, 1);
    const int8_t *w2 = w0 + (size_t)product->n_step * xnn_column(product, 2);
    const int8_t *w3 = w0 + (size_t)product->n_step * xnn_column(product, 3);
    const size_t step = product->k_step;
    uint32_t s0 = product->sum.u32[0];
    uint32_t s1 = product->sum.u32[1];
    uint32_t s2 = product->sum.u32[2];
    uint32_t s3 = product->sum.u32[3];
    for (size_t i = 0, at = 0; i < count; i++, at += step) {
        const int32_t number = x[i] - zero;
        s0 += (uint32_t)(number * w0[at]);
        s1 += (uint32_t)(number * w1[at]);
        s2 += (uint32_t)(number * w2[at]);
        s3 += (uint32_t)(number * w3[at]);
    }
    product->sum.u32[0] = s0;
    product->sum.u32[1] = s1;
    product->sum.u32[2] = s2;
    product->sum.u32[3] = s3;
}

static void next_block(ember_xnn_product_t *product, uint32_t column, uint32_t count) {
    product->column = column;
    product->columns = count - column < XNN_COLUMNS ? count - column : XNN_COLUMNS;
}

void ember_xnn_columns_begin(ember_xnn_product_t *product, uint32_t count, void *sums) {
    for (uint32_t i = 0; i < count; i += XNN_COLUMNS) {
        next_block(product, i, count);
        product->type->begin(product);
        memcpy((uint8_t *)sums + 4 * (size_t)i, &product->sum,
               4 * (size_t)product->columns);
    }
}

void ember_xnn_columns_end(ember_xnn_product_t *product, uint32_t count,
                           const void *sums, size_t y) {
    for (uint32_t i = 0; i < count; i += XNN_COLUMNS) {
        next_block(product, i, count);
        memcpy(&product->sum, (const uint8_t *)sums + 4 * (size_t)i,
               4 * (size_t)product->columns);
        product->type->end(product, y + i);
    }
}
