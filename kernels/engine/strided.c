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

// Puts `row` behind the `dims` rows of the table, or joins it with the last one.
// Returns how many rows there are; more than `most` are not written.
static uint32_t append(int32_t *table, uint32_t dims, uint32_t most, const int32_t *row,
                       uint32_t operands) {
    const uint32_t width = operands + 1;
    int32_t *next = table + dims * width;
    int32_t size = row[0];
    if (size == 1) {
        return dims;
    }
    if (dims > 0 && dims <= most && continues(next - width, row, operands)) {
        next -= width;
        size *= next[0];
        dims--;
    }
    if (dims < most) {
        memmove(next, row, width * sizeof(*row));
        next[0] = size;
    }
    return dims + 1;
}

// A table without rows becomes one of a single step.
static uint32_t finish(int32_t *table, uint32_t dims, uint32_t operands) {
    if (dims > 0) {
        return dims;
    }
    memset(table, 0, (operands + 1) * sizeof(*table));
    table[0] = 1;
    return 1;
}

uint32_t ember_walk_join(int32_t *table, uint32_t dims, uint32_t operands) {
    uint32_t kept = 0;
    for (uint32_t d = 0; d < dims; d++) {
        kept = append(table, kept, dims, table + d * (operands + 1), operands);
    }
    return finish(table, kept, operands);
}

uint32_t ember_walk_fill(const ember_tensor_t *const *operands, uint32_t count,
                         int32_t *table) {
    int32_t strides[EMBER_WALK_OPERANDS][EMBER_MAX_RANK];
    int32_t row[EMBER_WALK_OPERANDS + 1];
    const uint32_t rank = operands[0]->rank;
    uint32_t dims = 0;

    for (uint32_t k = 0; k < count; k++) {
        ember_tensor_strides(operands[k], strides[k]);
    }
    for (uint32_t left = rank; left > 0; left--) {
        uint32_t widest = 0; // of the dimensions left, in operand 0
        for (uint32_t d = 1; d < rank; d++) {
            widest = strides[0][d] > strides[0][widest] ? d : widest;
        }
        row[0] = operands[0]->sizes[widest];
        for (uint32_t k = 0; k < count; k++) {
            const ember_tensor_t *tensor = operands[k];
            const uint32_t missing = rank - tensor->rank;
            const bool steps =
                widest >= missing && tensor->sizes[widest - missing] != 1;
            row[1 + k] =
                steps ? strides[k][widest - missing] * (int32_t)tensor->element_size
                      : 0;
        }
        strides[0][widest] = -1;
        dims = append(table, dims, EMBER_WALK_DIMS, row, count);
    }
    return dims > EMBER_WALK_DIMS ? 0 : finish(table, dims, count);
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
        for (uint32_t k = 0; k < walk->operands; k++) {
            // back to the start of the dimension after its last element
            walk->at[k] += more ? row[1 + k] : -(row[0] - 1) * row[1 + k];
        }
        if (more) {
            return true;
        }
        walk->index[d] = 0;
    }
    return false;
}
