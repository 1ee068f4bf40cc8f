// SPDX-License-Identifier: Apache-2.0
// permute_copy: permutes the dimensions. The state is an ember_copy_t.
#ifndef EMBER_KERNELS_MOVEMENT_PERMUTE_COPY_H
#define EMBER_KERNELS_MOVEMENT_PERMUTE_COPY_H

#include <stdbool.h>

#include "kernels/engine/copy.h"
#include "kernels/engine/int8/turn.h"

EMBER_MUST_USE ember_status_t ember_permute_copy_prepare(ember_node_t *node,
                                                         void *state);

// Whether the two innermost dimensions of the output are a matrix whose transpose is in
// the input.
bool ember_permute_copy_is_matrix(const ember_copy_t *copy);

// Whether the transpose is dense, too, and elements are bytes: for ember_turn().
bool ember_permute_copy_is_turn(const ember_copy_t *copy);

// Copies such matrices by `inner`, to which copy->dims[copy->rank - 1] are the columns
// of the source, and the dimension behind that its rows.
void ember_permute_copy_matrices(const ember_copy_t *copy, ember_copy_inner_fn inner);

// For such a function: one matrix of bytes.
static inline void ember_permute_copy_turn(const ember_copy_t *copy, uint8_t *to,
                                           const uint8_t *from, ember_turn_t turn) {
    const ember_copy_dim_t *columns = &copy->dims[copy->rank - 1], *rows = columns + 1;

    turn((int8_t *)to, (const int8_t *)from, rows->count, columns->count);
}

#endif // EMBER_KERNELS_MOVEMENT_PERMUTE_COPY_H
