// SPDX-License-Identifier: Apache-2.0
// What max pools share.
#ifndef EMBER_KERNELS_POOLING_MAX_H
#define EMBER_KERNELS_POOLING_MAX_H

#include "kernels/pooling/pool.h"

typedef struct ember_max_pool {
    ember_pool_t pool;
    char *indices; // int64, laid out as y is; NULL: nobody reads them
} ember_max_pool_t;

// Reads the arguments of a pool in `dims` dimensions; its indices may be None.
EMBER_MUST_USE ember_status_t ember_max_prepare(ember_max_pool_t *max,
                                                ember_node_t *node, uint32_t dims);

// The same for windows that cut `dims` dimensions into a given number of parts.
EMBER_MUST_USE ember_status_t ember_max_prepare_adaptive(ember_max_pool_t *max,
                                                         ember_node_t *node,
                                                         uint32_t dims);

// Reads the arguments of a pool in two dimensions of float32, in any layout, with or
// without indices.
EMBER_MUST_USE ember_status_t ember_max_prepare_f32(ember_max_pool_t *max,
                                                    ember_node_t *node, bool indexed);

// For Helium: the same, with rows whose elements are adjacent.
EMBER_MUST_USE ember_status_t ember_max_prepare_f32_rows(ember_max_pool_t *max,
                                                         ember_node_t *node,
                                                         bool indexed);

// Positions [first, past) of one dimension of x, dilation[d] apart.
typedef struct ember_max_taps {
    int32_t first;
    int32_t past;
} ember_max_taps_t;

// The part of dimension `d` in the window of output `at`.
static inline ember_max_taps_t ember_max_taps(const ember_pool_t *pool, uint32_t d,
                                              int32_t at) {
    ember_max_taps_t taps = {.first = at * pool->stride[d] - pool->padding[d]};
    const int32_t end = taps.first + (pool->kernel[d] - 1) * pool->dilation[d] + 1;

    taps.past = end < pool->in[d] ? end : pool->in[d];
    if (taps.first < 0) { // the first tap inside
        const int32_t past = taps.first % pool->dilation[d];
        taps.first = past < 0 ? past + pool->dilation[d] : 0;
    }
    return taps;
}

// Runs of every dtype.
int32_t ember_max_run(void *max);
int32_t ember_max_adaptive_run(void *max);

// One row of outputs of a two-dimensional pool: `x` is its plane, `y` and `indices` are
// where the row begins, in elements of the whole (NULL without indices); `taps` those
// of the height.
typedef void (*ember_max_row_fn)(const ember_max_pool_t *max, const char *x, char *y,
                                 int64_t *indices, ember_max_taps_t taps);

// Calls `row` for every row.
void ember_max_rows(const ember_max_pool_t *max, ember_max_row_fn row);

#endif // EMBER_KERNELS_POOLING_MAX_H
