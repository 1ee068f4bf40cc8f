// SPDX-License-Identifier: Apache-2.0
// What average pools share. The divisor is given, or the size of the window with or
// without the padding that it covers.
#ifndef EMBER_KERNELS_POOLING_AVG_H
#define EMBER_KERNELS_POOLING_AVG_H

#include "kernels/pooling/pool.h"

typedef struct ember_avg_pool {
    ember_pool_t pool;
    int32_t divisor; // 0: none given
    bool count_padding;
} ember_avg_pool_t;

// Reads the arguments of a pool in `dims` dimensions, or of its gradient.
EMBER_MUST_USE ember_status_t ember_avg_prepare(ember_avg_pool_t *avg,
                                                ember_node_t *node, uint32_t dims,
                                                bool gradient);

// The window of output `at`, and the divisor of its sum: 0 if all of it is padding.
int64_t ember_avg_window(const ember_avg_pool_t *avg, const int32_t at[EMBER_POOL_DIMS],
                         ember_pool_box_t *box);

// A sum divided by such a divisor, in the class of the pool's dtype.
ember_number_t ember_avg_of(const ember_avg_pool_t *avg, ember_number_t sum,
                            int64_t divisor);

// A run of every dtype.
int32_t ember_avg_run(void *avg);

#endif // EMBER_KERNELS_POOLING_AVG_H
