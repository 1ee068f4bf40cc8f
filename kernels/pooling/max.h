// SPDX-License-Identifier: Apache-2.0
// What the kernels of max_pool2d_with_indices share.
#ifndef EMBER_KERNELS_POOLING_MAX_H
#define EMBER_KERNELS_POOLING_MAX_H

#include "kernels/pooling/pool.h"

typedef struct ember_max_pool {
    ember_pool_t pool;
    char *indices; // int64, laid out as y is
} ember_max_pool_t;

// Input positions of a window along one dimension, dilation[d] apart.
typedef struct ember_max_range {
    int32_t first;
    int32_t past;
} ember_max_range_t;

EMBER_MUST_USE ember_status_t ember_max_prepare(ember_max_pool_t *max,
                                                ember_node_t *node);

ember_max_range_t ember_max_range(const ember_pool_t *pool, uint32_t d, int32_t out);

// Stores the index of the output that lies at `y`.
void ember_max_store(const ember_max_pool_t *max, const char *y, int32_t index);

#endif // EMBER_KERNELS_POOLING_MAX_H
