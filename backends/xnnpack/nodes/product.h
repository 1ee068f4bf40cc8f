// SPDX-License-Identifier: Apache-2.0
// Sums of products for fully connected layers, convolutions and matrix products: a few
// columns of weights at a time, in the order that XNNPACK defines.
//
// A walk over the output (linear.c, conv.c, batch_matmul.c) knows where elements are; a
// type knows what they are. For each row and each block of columns the walk calls
// begin, then add for each run of adjacent elements, then end.
#ifndef EMBER_XNNPACK_PRODUCT_H
#define EMBER_XNNPACK_PRODUCT_H

#include "backends/xnnpack/graph/graph.h"
#include "numbers.h"

enum { XNN_COLUMNS = 4 }; // of a block, at most

typedef struct ember_xnn_product ember_xnn_product_t;

typedef struct ember_xnn_type {
    // Datatypes, `kinds` as in a kernel; UNSUPPORTED for others.
    ember_status_t (*check)(ember_xnn_graph_t *graph, ember_xnn_node_t *node);
    // Starts the sums of columns [column, column + columns) with the bias.
    void (*begin)(ember_xnn_product_t *product);
    // Adds products of `count` elements of the input from index `a` on with weights
    // from index `w` on; both in elements.
    void (*add)(ember_xnn_product_t *product, size_t a, size_t w, uint32_t count);
    // Writes the results of the columns to the output from index `y` on.
    void (*end)(const ember_xnn_product_t *product, size_t y);
} ember_xnn_type_t;

struct ember_xnn_product {
    const ember_xnn_type_t *type;
    const ember_xnn_node_t *node;
    const ember_xnn_value_t *input;
    const ember_xnn_value_t *weights;
    const ember_xnn_value_t *bias; // NULL: zeros
    uint32_t k_step;               // of weights, elements: from one product to the next
    uint32_t n_step;               // from column to column
    uint32_t row;                  // of the parameters of a QDS8 input
    uint32_t column;
    uint32_t columns; // 1 to XNN_COLUMNS
    union {
        float f32[XNN_COLUMNS];
        uint32_t u32[XNN_COLUMNS]; // int32 that may wrap
    } sum;
    ember_xnn_range_t range; // of an int8 output
};

extern const ember_xnn_type_t ember_xnn_type_f32;
extern const ember_xnn_type_t ember_xnn_type_f16;
extern const ember_xnn_type_t ember_xnn_type_bf16;
extern const ember_xnn_type_t ember_xnn_type_qs8;
extern const ember_xnn_type_t ember_xnn_type_qd8;
extern const ember_xnn_type_t ember_xnn_type_qd8_qc4;
extern const ember_xnn_type_t ember_xnn_type_qd8_qb4;

// The end of all types with QDS8 input: numbers[i] * factors[i] + bias in one rounding,
// or numbers[i] + bias without factors; bounded, to float32 or float16.
void ember_xnn_end_qd8(const ember_xnn_product_t *product, const float *numbers,
                       const float *factors, size_t y);

// Whether input, bias and output are what those types take.
bool ember_xnn_is_qd8(const ember_xnn_node_t *node);

// Starts, and writes, the sums of `count` columns that are in `sums`: four bytes each,
// float or uint32_t.
void ember_xnn_columns_begin(ember_xnn_product_t *product, uint32_t count, void *sums);
void ember_xnn_columns_end(ember_xnn_product_t *product, uint32_t count,
                           const void *sums, size_t y);

// Sets everything but the steps.
void ember_xnn_product_begin(ember_xnn_product_t *product, const ember_xnn_type_t *type,
                             const ember_xnn_node_t *node);

// Whether these datatypes are static int8, for that many columns of weights. Also the
// scale of a column's sums: in * weights / out.
bool ember_xnn_qs8_fits(const ember_xnn_node_t *node, uint32_t columns);
float ember_xnn_qs8_scale(const ember_xnn_node_t *node, uint32_t column);

// add() for int8: (element - zero) * weight, as int32 that wraps.
void ember_xnn_add_s8(ember_xnn_product_t *product, size_t a, size_t w, uint32_t count,
                      int32_t zero);

// Column `k` of a block; past the last column that one again, so that loops need no
// special case for a block's last columns.
static inline uint32_t xnn_column(const ember_xnn_product_t *product, uint32_t k) {
    return k < product->columns ? k : product->columns - 1;
}

// Whether input and output are of one type, as are the weights, with a float32 bias.
static inline bool xnn_product_is(const ember_xnn_node_t *node, uint32_t type) {
    const ember_xnn_value_t *bias = node->in[2];
    return xnn_types(node, type, type) && node->in[1]->datatype == type &&
           (bias == NULL || bias->datatype == XNN_F32);
}

// begin() for sums in float32 with a float32 bias.
static inline void xnn_product_begin_f32(ember_xnn_product_t *product) {
    const ember_xnn_value_t *bias = product->bias;
    const float *from = bias != NULL ? bias->constant : NULL;
    for (uint32_t i = 0; i < XNN_COLUMNS; i++) {
        const uint32_t column = product->column + xnn_column(product, i);
        product->sum.f32[i] = from != NULL ? from[column] : 0.0f;
    }
}

// Calls add(), unless there is nothing to add: then tensors may be NULL.
static inline void xnn_product_add(ember_xnn_product_t *product, size_t a, size_t w,
                                   uint32_t count) {
    if (count > 0) {
        product->type->add(product, a, w, count);
    }
}

// Whether a bias is absent, or has a value per column.
static inline bool xnn_bias_fits(const ember_xnn_value_t *bias, uint32_t columns) {
    return bias == NULL || bias->numel == columns;
}

// --- fully connected layers, for kernels fully_connected_*.c -------------------------

ember_status_t ember_xnn_linear_shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node);
ember_status_t ember_xnn_linear_prepare(ember_xnn_graph_t *graph,
                                        ember_xnn_node_t *node,
                                        const ember_xnn_type_t *type);
void ember_xnn_linear_run(const ember_xnn_node_t *node, const ember_xnn_type_t *type);

#endif // EMBER_XNNPACK_PRODUCT_H
