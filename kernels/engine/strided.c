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

// True when `inner` continues `outer` in every operand. Steps are below 2^31 as
// tensors are, but only their product with a size of the same tensor is.
static bool continues(const int32_t *outer, const int32_t *inner, uint32_t operands) {
    for (uint32_t k = 1; k <= operands; k++) {
        if (outer[k] != (int64_t)inner[k] * inner[0]) {
            return false;
        }
    }
    return true;
}

uint32_t ember_walk_join(int32_t *table, uint32_t dims, uint32_t operands) {
    const uint32_t width = operands + 1;
    int32_t *row = table;
    int32_t *end = table; // of the rows that are kept
    for (uint32_t d = 0; d < dims; d++, row += width) {
        if (row[0] == 1) {
            continue;
        }
        if (end != table && continues(end - width, row, operands)) {
            end -= width;
            row[0] *= end[0];
        }
        memmove(end, row, width * sizeof(*row));
        end += width;
    }
    if (end == table) { // one of a single step
        memset(table, 0, width * sizeof(*table));
        table[0] = 1;
        return 1;
    }
    return (uint32_t)(end - table) / width;
}

uint32_t ember_walk_fill(const ember_tensor_t *const *operands, uint32_t count,
                         int32_t *table) {
    int32_t rows[EMBER_MAX_RANK * (EMBER_WALK_OPERANDS + 1)];
    int32_t strides[EMBER_MAX_RANK];
    const ember_tensor_t *whole = operands[0];
    const uint32_t width = count + 1;

    for (uint32_t k = 0; k < count; k++) {
        const ember_tensor_t *tensor = operands[k];
        int32_t *row = rows;
        ember_tensor_strides(tensor, strides);
        for (uint32_t i = 0; i < whole->rank; i++, row += width) {
            const uint32_t dim = whole->dim_order[i];
            const int32_t own = (int32_t)dim - whole->rank + tensor->rank;
            row[0] = whole->sizes[dim];
            row[1 + k] = own < 0 || tensor->sizes[own] == 1
                             ? 0
                             : strides[own] * tensor->element_size;
        }
    }
    const uint32_t dims = ember_walk_join(rows, whole->rank, count);
    if (dims > EMBER_WALK_DIMS) {
        return 0;
    }
    memcpy(table, rows, dims * width * sizeof(*rows));
    return dims;
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
