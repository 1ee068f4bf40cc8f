// SPDX-License-Identifier: Apache-2.0
// The same with weights of four bits, low nibble first: a scale per channel, or a
// bfloat16 scale per channel and group, see numbers.h.
#include <math.h>

#include "product.h"

enum { ZERO = 8 }; // of weights

static bool is_packed(const ember_xnn_node_t *node, uint32_t datatype) {
    const ember_xnn_value_t *weights = node->in[1];
    return ember_xnn_is_qd8(node) && weights->datatype == datatype &&
           weights->rank == 2 && weights->sizes[1] % 2 == 0 && node->flags == 0;
}

static ember_status_t check_channels(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return is_packed(node, XNN_QCS4) && node->in[1]->group == 0 ? EMBER_OK
                                                                : EMBER_UNSUPPORTED;
}

static ember_status_t check_groups(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return is_packed(node, XNN_QBS4) && node->in[1]->group % 2 == 0 ? EMBER_OK
                                                                    : EMBER_UNSUPPORTED;
}

static void begin(ember_xnn_product_t *product) {
    memset(&product->sum, 0, sizeof(product->sum));
}

// Sum of (x - zero) * weight; `count` is even.
static uint32_t sum_of(const int8_t *x, const uint8_t *w, uint32_t count,
                       int32_t zero) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i += 2, w++) {
        sum += (uint32_t)((x[i] - zero) * ((*w & 15) - ZERO));
        sum += (uint32_t)((x[i + 1] - zero) * ((*w >> 4) - ZERO));
    }
    return sum;
}

static void add_channels(ember_xnn_product_t *product, size_t a, size_t w,
                         uint32_t count) {
    const int32_t zero = xnn_rows(product->input)[product->row].zero;
    const int8_t *x = (const int8_t *)product->input->constant + a;
    for (uint32_t i = 0; i < product->columns; i++) {
        const size_t at = w + (size_t)i * product->n_step;
        const uint8_t *nibbles = (const uint8_t *)product->weights->constant + at / 2;
        product->sum.u32[i] += sum_of(x, nibbles, count, zero);
    }
}

static void end_channels(const ember_xnn_product_t *product, size_t y) {
    const float scale = xnn_rows(product->input)[product->row].scale;
    float numbers[XNN_COLUMNS];
    for (uint32_t i = 0; i < product->columns; i++) {
        numbers[i] = (float)(int32_t)product->sum.u32[i] * scale;
    }
    ember_xnn_end_qd8(product, numbers,
                      (const float *)product->weights->scales + product->column, y);
}

// A product of whole rows only: a linear layer's. The node keeps the columns' starts.
static void add_groups(ember_xnn_product_t *product, size_t a, size_t w,
                       uint32_t count) {
    const ember_xnn_value_t *weights = product->weights;
    const ember_xnn_row_t *row = &xnn_rows(product->input)[product->row];
    const float *starts = product->node->scales + product->column;
    const uint32_t group = weights->group;
    for (uint32_t i = 0; i < product->columns; i++) {
        const int8_t *x = (const int8_t *)product->input->constant + a;
        const size_t at = w + (size_t)i * product->n_step;
        const uint8_t *nibbles = (const uint8_t *)weights->constant + at / 2;
        const uint16_t *scale = (const uint16_t *)weights->scales + at / group;
        float sum = xnn_group_zero(row) * starts[i];
        for (uint32_t k = 0; k < count; k += group, scale++) {
            const uint32_t part =
                sum_of(x + k, nibbles + k / 2, group, -XNN_GROUP_OFFSET);
            sum = fmaf((float)(int32_t)part, ember_f32_from_bf16(*scale), sum);
        }
        product->sum.f32[i] = sum;
    }
}

static void end_groups(const ember_xnn_product_t *product, size_t y) {
    const float scale = xnn_rows(product->input)[product->row].scale;
    float numbers[XNN_COLUMNS];
    for (uint32_t i = 0; i < product->columns; i++) {
        numbers[i] = product->sum.f32[i] * scale;
    }
    ember_xnn_end_qd8(product, numbers, NULL, y);
}

const ember_xnn_type_t ember_xnn_type_qd8_qc4 = {check_channels, begin, add_channels,
                                                 end_channels};
const ember_xnn_type_t ember_xnn_type_qd8_qb4 = {check_groups, begin, add_groups,
                                                 end_groups};
