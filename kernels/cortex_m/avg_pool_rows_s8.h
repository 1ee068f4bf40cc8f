// SPDX-License-Identifier: Apache-2.0
// quantized_avg_pool2d by rows of its image, which then is never whole. Each row is
// added to the sums of the windows that it crosses (avg_pool_sums); sums of all rows of
// the windows become results (avg_pool_means). Both have the arguments of
// quantized_avg_pool2d without ceil_mode, and follow its reference: sums are float32,
// of elements in their order.
//
// A row and its sums are images with one row, channels last.
#ifndef EMBER_KERNELS_CORTEX_M_AVG_POOL_ROWS_S8_H
#define EMBER_KERNELS_CORTEX_M_AVG_POOL_ROWS_S8_H

#include "ember/node.h"

typedef struct ember_avg_pool_rows_s8 {
    const int8_t *x; // a row
    float *sums;     // (windows, channels)
    int32_t channels;
    int32_t windows;
    int32_t columns; // of a window
    int32_t step;    // from a window to the next, in elements of x
    float scale;
    int32_t zero;
} ember_avg_pool_rows_s8_t;

EMBER_MUST_USE ember_status_t
ember_avg_pool_sums_s8_prepare(ember_node_t *node, ember_avg_pool_rows_s8_t *s);

// Adds the sums of a window, from its first element on.
typedef void (*ember_avg_pool_add_fn)(const ember_avg_pool_rows_s8_t *s,
                                      const int8_t *x, float *sums);

// Adds a row to the sums of its windows; `add` is a constant.
static inline __attribute__((always_inline)) void
ember_avg_pool_sums_s8_run(const ember_avg_pool_rows_s8_t *s,
                           ember_avg_pool_add_fn add) {
    const int8_t *x = s->x;
    float *sums = s->sums;

    for (int32_t i = 0; i < s->windows; i++) {
        add(s, x, sums);
        x += s->step;
        sums += s->channels;
    }
}

// Whether an image has one row, channels last.
bool ember_avg_pool_is_row(const ember_tensor_t *image);

#endif // EMBER_KERNELS_CORTEX_M_AVG_POOL_ROWS_S8_H
