// SPDX-License-Identifier: Apache-2.0
// tril and triu: a copy of matrices with zeros on one side of a diagonal.
#ifndef EMBER_KERNELS_MOVEMENT_TRIANGLE_H
#define EMBER_KERNELS_MOVEMENT_TRIANGLE_H

#include "kernels/engine/copy.h"

typedef struct ember_triangle {
    ember_copy_t copy;
    char *out;
    int32_t matrices;
    int32_t rows;
    int32_t columns;
    int32_t element_size; // bytes
    int32_t diagonal;
} ember_triangle_t;

EMBER_MUST_USE ember_status_t ember_triangle_prepare(ember_node_t *node, void *state);

// Keeps what is on the diagonal and above it, or below it.
void ember_triangle_run(const ember_triangle_t *triangle, bool above);

#endif // EMBER_KERNELS_MOVEMENT_TRIANGLE_H
