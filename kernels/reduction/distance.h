// SPDX-License-Identifier: Apache-2.0
// The p-norm of the difference of two vectors: cdist and pdist. Any float dtype, in
// double.
#ifndef EMBER_KERNELS_REDUCTION_DISTANCE_H
#define EMBER_KERNELS_REDUCTION_DISTANCE_H

#include "kernels/engine/axis.h"

typedef struct ember_distance {
    double p; // >= 0, or infinite
    int32_t count;
    int32_t steps[2]; // from number to number of each vector, bytes
    uint8_t dtype;
} ember_distance_t;

// Reads p, argument `arg`.
void ember_distance_power(ember_distance_t *distance, ember_node_t *node, uint32_t arg);

// Adds the work of so many distances, of vectors of `count` numbers.
void ember_distance_work(const ember_distance_t *distance, ember_node_t *node,
                         uint32_t distances, uint32_t count);

double ember_distance_of(const ember_distance_t *distance, const char *a,
                         const char *b);

#endif // EMBER_KERNELS_REDUCTION_DISTANCE_H
