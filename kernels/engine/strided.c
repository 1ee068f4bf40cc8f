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

static void swap_rows(int32_t *a, int32_t *b, uint32_t width) {
    for (uint32_t i = 0; i < width; i++) {
        const int32_t item = a[i];
        a[i] = b[i];
        b[i] = item;
    }
}

// Puts rows in the order of falling steps of operand 0: few, nearly sorted.
static void sort_rows(int32_t *table, uint32_t dims, uint32_t width) {
    for (uint32_t i = 1; i < dims; i++) {
        for (uint32_t j = i; j > 0; j--) {
            int32_t *row = table + j * width;
            if (row[1] <= row[1 - (int32_t)width]) {
                break;
            }
            swap_rows(row, row - width, width);
        }
    }
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
    uint32_t kept = 0;
    for (uint32_t d = 0; d < dims; d++) {
        int32_t *row = table + d * width;
        int32_t *last = kept > 0 ? table + (kept - 1) * width : NULL;
        if (row[0] == 1) {
            continue;
        }
        if (last != NULL && continues(last, row, operands)) {
            const int32_t size = last[0] * row[0];
            memmove(last, row, width * sizeof(*row));
            last[0] = size;
            continue;
        }
        memmove(table + kept * width, row, width * sizeof(*row));
        kept++;
    }
    if (kept == 0) {
        memset(table, 0, width * sizeof(*table));
        table[0] = 1;
        kept = 1;
    }
    return kept;
}

uint32_t ember_walk_fill(const ember_tensor_t *const *operands, uint32_t count,
                         int32_t *table) {
    int32_t rows[EMBER_MAX_RANK * (EMBER_WALK_OPERANDS + 1)];
    int32_t strides[EMBER_MAX_RANK];
    const uint32_t width = count + 1;
    const uint32_t rank = operands[0]->rank;

    memset(rows, 0, sizeof(rows));
    for (uint32_t k = 0; k < count; k++) {
        const ember_tensor_t *tensor = operands[k];
        const uint32_t missing = rank - tensor->rank;
        ember_tensor_strides(tensor, strides);
        for (uint32_t d = 0; d < tensor->rank; d++) {
            int32_t *row = rows + (missing + d) * width;
            row[0] = k == 0 ? tensor->sizes[d] : row[0];
            row[1 + k] =
                tensor->sizes[d] == 1 ? 0 : strides[d] * (int32_t)tensor->element_size;
        }
    }
    // dimensions of size 1 have no place in the order
    uint32_t dims = 0;
    for (uint32_t d = 0; d < rank; d++) {
        if (rows[d * width] != 1) {
            memmove(rows + dims * width, rows + d * width, width * sizeof(*rows));
            dims++;
        }
    }
    sort_rows(rows, dims, width);
    dims = ember_walk_join(rows, dims, count);
    if (dims > EMBER_WALK_DIMS) {
        return 0;
    }
    memcpy(table, rows, dims * width * sizeof(*table));
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
