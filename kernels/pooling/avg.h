// SPDX-License-Identifier: Apache-2.0
// What the kernels of avg_pool2d share. The divisor is given, or the size of the
// window with or without the padding that it covers.
#ifndef EMBER_KERNELS_POOLING_AVG_H
#define EMBER_KERNELS_POOLING_AVG_H

#include "kernels/pooling/pool.h"

typedef struct ember_avg_pool {
    ember_pool_t pool;
    int32_t divisor; // 0: none given
    bool count_padding;
} ember_avg_pool_t;

// Input positions of a window along one dimension.
typedef struct ember_pool_range {
    int32_t first;
    int32_t past;
    int32_t padded; // length with the padding that it covers
} ember_pool_range_t;

EMBER_MUST_USE ember_status_t ember_avg_prepare(ember_avg_pool_t *avg,
                                                ember_node_t *node);

ember_pool_range_t ember_avg_range(const ember_pool_t *pool, uint32_t d, int32_t out);

int64_t ember_avg_divisor(const ember_avg_pool_t *avg, ember_pool_range_t rows,
                          ember_pool_range_t columns);

#endif // EMBER_KERNELS_POOLING_AVG_H
