// SPDX-License-Identifier: Apache-2.0
// Batch normalisation: each channel (dimension 1) with one mean and variance, given or
// its own. Any float dtype, in double.
#ifndef EMBER_KERNELS_NORM_BATCH_H
#define EMBER_KERNELS_NORM_BATCH_H

#include "kernels/engine/norm.h"

typedef struct ember_batch {
    ember_axis_t axis;
    ember_norm_vector_t weight;
    ember_norm_vector_t bias;
    double eps;
} ember_batch_t;

// Reads input, weight and bias (arguments 0 to 2) and epsilon, and sets the shape of
// output `out`. There are then at most axis.count channels, which is 1 for an empty
// input.
EMBER_MUST_USE ember_status_t ember_batch_prepare(ember_batch_t *batch,
                                                  ember_node_t *node, uint32_t eps,
                                                  uint32_t out, uint32_t *channels);

// Mean and variance of channel `c` (divided by the number of elements).
void ember_batch_moments(const ember_batch_t *batch, uint32_t c, double *mean,
                         double *variance);

// What normalises channel `c`: x * *scale + *shift; returns 1 / sqrt(variance + eps).
double ember_batch_affine(const ember_batch_t *batch, uint32_t c, double mean,
                          double variance, double *scale, double *shift);

// Normalises channel `c`; returns 1 / sqrt(variance + eps).
double ember_batch_apply(const ember_batch_t *batch, uint32_t c, double mean,
                         double variance);

// Channels that have elements.
uint32_t ember_batch_channels(const ember_batch_t *batch);

#endif // EMBER_KERNELS_NORM_BATCH_H
