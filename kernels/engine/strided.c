// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/strided.h"

#include <string.h>

bool ember_broadcast_shape(const ember_tensor_t *const *operands, uint32_t count,
                           int32_t *sizes, uint32_t *rank) {
    *rank = 0;
    for (uint32_t k = 0; k < count; k++) {
        *rank = operands[k]->rank > *rank ? operands[k]->rank : *rank;
    }
    for (uint32_t d = 0; d < *rank; d++) { // from the last dimension
        int32_t size = 1;
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t own = operands[k]->rank;
            const int32_t item = d < own ? operands[k]->sizes[own - 1 - d] : 1;
            if (item != size && item != 1 && size != 1) {
                return false;
            }
            size = item != 1 ? item : size;
        }
        sizes[*rank - 1 - d] = size;
    }
    return true;
}

// True if `inner` continues `outer` in every operand. Steps are below 2^31 like
// tensors, but of products only those with a size of the same tensor are.
static bool continues(const int32_t *outer, const int32_t *inner, uint32_t operands) {
    for (uint32_t k = 1; k <= operands; k++) {
        if (outer[k] != (int64_t)inner[k] * inner[0]) {
            return false;
        }
    }
    return true;
}

// Adds a dimension to the `rows` of a walk, or joins it to the last of them if it
// continues that. Returns how many there are.
static uint32_t add_row(int32_t *table, uint32_t rows, const int32_t *row,
                        uint32_t operands) {
    const uint32_t width = operands + 1;
    int32_t *end = table + rows * width;
    if (row[0] == 1) {
        return rows;
    }
    if (rows == 0 || !continues(end - width, row, operands)) {
        memmove(end, row, width * sizeof(*row));
        return rows + 1;
    }
    int32_t *last = end - width;
    const int32_t outer = last[0];
    memmove(last, row, width * sizeof(*row));
    last[0] *= outer;
    return rows;
}

// A walk without rows becomes one of a single step.
static uint32_t at_least_one(int32_t *table, uint32_t rows, uint32_t operands) {
    if (rows > 0) {
        return rows;
    }
    memset(table, 0, (operands + 1) * sizeof(*table));
    table[0] = 1;
    return 1;
}

uint32_t ember_walk_join(int32_t *table, uint32_t dims, uint32_t operands) {
    const uint32_t width = operands + 1;
    uint32_t rows = 0;
    for (uint32_t d = 0; d < dims; d++) {
        rows = add_row(table, rows, table + d * width, operands);
    }
    return at_least_one(table, rows, operands);
}

// Elements from one index of a dimension to the next.
static int32_t stride_of(const ember_tensor_t *tensor, uint32_t dim) {
    int32_t stride = 1;
    for (uint32_t i = tensor->rank; i-- > 0 && tensor->dim_order[i] != dim;) {
        const int32_t size = tensor->sizes[tensor->dim_order[i]];
        stride *= size > 0 ? size : 1;
    }
    return stride;
}

// Dimension by dimension, because all of them at once would take much of a small stack.
uint32_t ember_walk_fill(const ember_tensor_t *const *operands, uint32_t count,
                         int32_t *table) {
    int32_t row[EMBER_WALK_OPERANDS + 1];
    const ember_tensor_t *whole = operands[0];
    uint32_t rows = 0;
    for (uint32_t i = 0; i < whole->rank; i++) {
        const uint32_t dim = whole->dim_order[i];
        row[0] = whole->sizes[dim];
        for (uint32_t k = 0; k < count; k++) {
            const ember_tensor_t *tensor = operands[k];
            const int32_t own = (int32_t)dim - whole->rank + tensor->rank;
            row[1 + k] = own < 0 || tensor->sizes[own] == 1
                             ? 0
                             : stride_of(tensor, (uint32_t)own) * tensor->element_size;
        }
        const int32_t *last = rows > 0 ? table + (rows - 1) * (count + 1) : NULL;
        if (rows == EMBER_WALK_DIMS && row[0] != 1 && !continues(last, row, count)) {
            return 0;
        }
        rows = add_row(table, rows, row, count);
    }
    return at_least_one(table, rows, count);
}

void ember_walk_start(ember_walk_t *walk, const int32_t *table, uint32_t dims,
                      uint32_t operands) {
    walk->table = table;
    walk->outer = dims - 1;
    walk->operands = operands;
    memset(walk->index, 0, sizeof(walk->index));
}

bool ember_walk_next(ember_walk_t *walk) {
    const uint32_t width = walk->operands + 1;
    for (uint32_t d = walk->outer; d-- > 0;) {
        const int32_t *row = walk->table + d * width;
        const bool more = ++walk->index[d] < row[0];
        // back to the start of the dimension after its last element
        const int32_t steps = more ? 1 : 1 - row[0];
        for (uint32_t k = 0; k < walk->operands; k++) {
            walk->at[k] += steps * row[1 + k];
        }
        if (more) {
            return true;
        }
        walk->index[d] = 0;
    }
    return false;
}
