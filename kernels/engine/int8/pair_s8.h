// SPDX-License-Identifier: Apache-2.0
// Element-wise int8 kernels of two operands, of one shape or one of them repeated, as
// rows: y is one array, an operand's elements are `step` apart and its rows `row`.
#ifndef EMBER_KERNELS_ENGINE_INT8_PAIR_S8_H
#define EMBER_KERNELS_ENGINE_INT8_PAIR_S8_H

#include "ember/node.h"

typedef struct ember_operand_s8 {
    const int8_t *x;
    int32_t row;  // from the start of a row to that of the next; 0: repeated
    int32_t step; // from an element to the next; 0: one for the whole row
} ember_operand_s8_t;

typedef struct ember_pair_s8 {
    int8_t *y; // (rows, count); may be an operand
    uint32_t rows;
    uint32_t count;
    ember_operand_s8_t a;
    ember_operand_s8_t b;
} ember_pair_s8_t;

// Reads the tensors of arguments `a` and `b` and the output, which is the last argument
// of the schema. UNSUPPORTED if they are not int8 or not in rows.
EMBER_MUST_USE ember_status_t ember_pair_s8_prepare(ember_node_t *node,
                                                    ember_pair_s8_t *pair, uint32_t a,
                                                    uint32_t b);

// The same of arguments 0 and `b` for another dtype: pointers are to its elements, rows
// and steps are in bytes.
EMBER_MUST_USE ember_status_t ember_pair_prepare(ember_node_t *node,
                                                 ember_pair_s8_t *pair, uint32_t b,
                                                 ember_dtype_t dtype);

// The same for kernels whose arguments are two tensors; `state` begins with the pair.
// _dense_: both operands have an element of their own for each of y's.
EMBER_MUST_USE ember_status_t ember_pair_s8_plain_prepare(ember_node_t *node,
                                                          void *state);
EMBER_MUST_USE ember_status_t ember_pair_s8_dense_prepare(ember_node_t *node,
                                                          void *state);

// Computes `count` elements of a row; steps are the operands'.
typedef void (*ember_pair_row_fn)(const void *state, const int8_t *a, const int8_t *b,
                                  int8_t *y, uint32_t count);

// Calls `row` for each row with `state`.
void ember_pair_s8_run(const ember_pair_s8_t *pair, ember_pair_row_fn row,
                       const void *state);

// The same for elements of `size` bytes.
void ember_pair_run(const ember_pair_s8_t *pair, ember_pair_row_fn row,
                    const void *state, uint32_t size);

// Whether both operands have an element of their own for each of y's.
static inline bool ember_pair_s8_dense(const ember_pair_s8_t *pair) {
    return pair->a.step == 1 && pair->b.step == 1;
}

#endif // EMBER_KERNELS_ENGINE_INT8_PAIR_S8_H
