// SPDX-License-Identifier: Apache-2.0
// What max pools share.
#ifndef EMBER_KERNELS_POOLING_MAX_H
#define EMBER_KERNELS_POOLING_MAX_H

#include "kernels/pooling/pool.h"

typedef struct ember_max_pool {
    ember_pool_t pool;
    char *indices; // int64, laid out as y is
} ember_max_pool_t;

// Reads the arguments of a pool in `dims` dimensions.
EMBER_MUST_USE ember_status_t ember_max_prepare(ember_max_pool_t *max,
                                                ember_node_t *node, uint32_t dims);

// The window of output `at`; its positions are dilation[d] apart.
ember_pool_box_t ember_max_window(const ember_pool_t *pool,
                                  const int32_t at[EMBER_POOL_DIMS]);

// The index in its plane (or volume) of an element.
int32_t ember_max_index(const ember_pool_t *pool, int32_t d, int32_t h, int32_t w);

// Stores the index of the output that lies at `y`.
void ember_max_store(const ember_max_pool_t *max, const char *y, int32_t index);

// A run of every dtype.
int32_t ember_max_run(void *max);

#endif // EMBER_KERNELS_POOLING_MAX_H
