// SPDX-License-Identifier: Apache-2.0
// Walks several tensors of one (broadcast) shape in step.
//
// A walk is a table of at most EMBER_WALK_DIMS dimensions, outermost first, in the
// memory order of operand 0. Each row of the table is the size and then the step of
// each operand in bytes: {size, step 0, step 1, ...}. Dimensions that are adjacent in
// every operand are joined, so that a walk of contiguous tensors has one dimension and
// a broadcast operand has steps of 0.
#ifndef EMBER_KERNELS_ENGINE_STRIDED_H
#define EMBER_KERNELS_ENGINE_STRIDED_H

#include "ember/node.h"

enum {
    EMBER_WALK_DIMS = 6,     // after joining; real programs need 4
    EMBER_WALK_OPERANDS = 5, // an output and four inputs
};

// int32_t items of a table for `operands` operands.
#define EMBER_WALK_ITEMS(operands) (EMBER_WALK_DIMS * ((operands) + 1))

// The shape that all `operands` broadcast to; operands with NULL sizes and rank 0 count
// as scalars. False if there is none.
bool ember_broadcast_shape(const ember_tensor_t *const *operands, uint32_t count,
                           int32_t *sizes, uint32_t *rank);

// Fills `table` for `operands`; operand 0 has the whole shape. Returns the dimensions
// used, at least 1; 0 if it would need more than EMBER_WALK_DIMS. No operand may have a
// dimension of size 0.
uint32_t ember_walk_fill(const ember_tensor_t *const *operands, uint32_t count,
                         int32_t *table);

// Joins and drops dimensions of a table of `dims` rows in place; returns how many
// are left, at least 1.
uint32_t ember_walk_join(int32_t *table, uint32_t dims, uint32_t operands);

// The state of a walk: the start of a row along the innermost dimension.
typedef struct ember_walk {
    const int32_t *table;
    uint32_t outer; // dimensions outside the row
    uint32_t operands;
    int32_t index[EMBER_WALK_DIMS];
    char *at[EMBER_WALK_OPERANDS]; // one per operand; moved by ember_walk_next()
} ember_walk_t;

// Starts at the first row; the caller sets `at`.
void ember_walk_start(ember_walk_t *walk, const int32_t *table, uint32_t dims,
                      uint32_t operands);

// Moves to the next row. False, with `at` back at the start, after the last.
bool ember_walk_next(ember_walk_t *walk);

#endif // EMBER_KERNELS_ENGINE_STRIDED_H
