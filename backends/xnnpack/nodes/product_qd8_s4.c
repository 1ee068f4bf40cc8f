// SPDX-License-Identifier: Apache-2.0
// The same with weights of four bits, low nibble first: a scale per channel, or a
// bfloat16 scale per channel and group, see numbers.h.
#include <math.h>

#include "product.h"

enum { ZERO = 8 }; // of weights

static bool is_packed(const ember_xnn_node_t *node, uint32_t datatype) {
    const ember_xnn_value_t *weights = node->in[1];
    return ember_xnn_is_qd8(node) && weights->datatype == datatype &&
           weights->rank == 2 && node->flags == 0;
}

static ember_status_t check_channels(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return is_packed(node, XNN_QCS4) && node->in[1]->group == 0 ? EMBER_OK
                                                                : EMBER_UNSUPPORTED;
}

static ember_status_t check_groups(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    const uint32_t step = node->out[0]->datatype == XNN_F16 ? 2 * XNN_GROUP_SUMS : 2;
    return is_packed(node, XNN_QBS4) && node->in[1]->group % step == 0
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static void begin(ember_xnn_product_t *product) {
    memset(&product->sum, 0, sizeof(product->sum));
}

// Sum of (x - zero) * weight of two products in every `step`; `count` and `step` are
// even.
static uint32_t sum_of(const int8_t *x, const uint8_t *w, uint32_t count, uint32_t step,
                       int32_t zero) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i += step, w += step / 2) {
        sum += (uint32_t)((x[i] - zero) * ((*w & 15) - ZERO));
        sum += (uint32_t)((x[i + 1] - zero) * ((*w >> 4) - ZERO));
    }
    return sum;
}

static void add_channels(ember_xnn_product_t *product, size_t a, size_t w,
                         uint32_t count) {
    const int32_t zero = xnn_rows(product->input)[product->row].zero;
    const int8_t *x = (const int8_t *)product->input->constant + a;
    const uint32_t even = count - count % 2;
    for (uint32_t i = 0; i < product->columns; i++) {
        const size_t at = w + (size_t)i * product->n_step;
        const uint8_t *nibbles = (const uint8_t *)product->weights->constant + at / 2;
        product->sum.u32[i] += sum_of(x, nibbles, even, 2, zero);
        if (even < count) { // the last byte of a column is half empty
            product->sum.u32[i] +=
                (uint32_t)((x[even] - zero) * xnn_weight_s4(nibbles, even));
        }
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

// A row by a column of weights.
typedef struct groups {
    const int8_t *x;
    const uint8_t *nibbles;
    const uint16_t *scales;
    uint32_t count; // of products
    uint32_t group;
} groups_t;

// Adds two products in every `step` of each group, from `first` on, to a sum.
static float add_sums(const groups_t *groups, uint32_t first, uint32_t step,
                      int32_t zero, float sum) {
    const uint16_t *scale = groups->scales;
    for (uint32_t k = first; k < groups->count; k += groups->group, scale++) {
        const uint32_t part = sum_of(groups->x + k, groups->nibbles + k / 2,
                                     groups->group - first, step, zero);
        sum = fmaf((float)(int32_t)part, ember_f32_from_bf16(*scale), sum);
    }
    return sum;
}

static float add_four(const groups_t *groups, float start) {
    const uint32_t step = 2 * XNN_GROUP_SUMS;
    const float first = add_sums(groups, 0, step, 0, start);
    const float second = add_sums(groups, 2, step, 0, 0.0f);
    const float third = add_sums(groups, 4, step, 0, 0.0f);
    const float fourth = add_sums(groups, 6, step, 0, 0.0f);
    return (first + second) + (third + fourth);
}

// Only for products of whole rows: a linear layer's. The node keeps the columns'
// starts.
static void add_groups(ember_xnn_product_t *product, size_t a, size_t w,
                       uint32_t count) {
    const ember_xnn_value_t *weights = product->weights;
    const ember_xnn_row_t *row = &xnn_rows(product->input)[product->row];
    const float *starts = product->node->scales + product->column;
    const bool half = product->node->out[0]->datatype == XNN_F16;
    for (uint32_t i = 0; i < product->columns; i++) {
        const size_t at = w + (size_t)i * product->n_step;
        const groups_t groups = {
            .x = (const int8_t *)product->input->constant + a,
            .nibbles = (const uint8_t *)weights->constant + at / 2,
            .scales = (const uint16_t *)weights->scales + at / weights->group,
            .count = count,
            .group = weights->group,
        };
        const float start = xnn_group_zero(row, half) * starts[i];
        product->sum.f32[i] = half ? add_four(&groups, start)
                                   : add_sums(&groups, 0, 2, -XNN_GROUP_OFFSET, start);
    }
}

static void end_groups(const ember_xnn_product_t *product, size_t y) {
    const float scale = xnn_rows(product->input)[product->row].scale;
    const bool half = product->node->out[0]->datatype == XNN_F16;
    float numbers[XNN_COLUMNS], factors[XNN_COLUMNS];
    for (uint32_t i = 0; i < product->columns; i++) {
        numbers[i] = half ? product->sum.f32[i] : product->sum.f32[i] * scale;
        factors[i] = scale;
    }
    ember_xnn_end_qd8(product, numbers, half ? factors : NULL, y);
}

const ember_xnn_type_t ember_xnn_type_qd8_qc4 = {check_channels, begin, add_channels,
                                                 end_channels};
const ember_xnn_type_t ember_xnn_type_qd8_qb4 = {check_groups, begin, add_groups,
                                                 end_groups};
