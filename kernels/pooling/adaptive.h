// SPDX-License-Identifier: Apache-2.0
// Means of adaptive windows, in two and three dimensions.
#ifndef EMBER_KERNELS_POOLING_ADAPTIVE_H
#define EMBER_KERNELS_POOLING_ADAPTIVE_H

#include "kernels/pooling/pool.h"

// The whole prepare of an operator (self, output_size, out).
EMBER_MUST_USE ember_status_t ember_adaptive_prepare(ember_node_t *node,
                                                     ember_pool_t *pool, uint32_t dims);
int32_t ember_adaptive_run(void *pool);

#endif // EMBER_KERNELS_POOLING_ADAPTIVE_H
