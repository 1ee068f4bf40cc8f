// SPDX-License-Identifier: Apache-2.0
// quantized_avg_pool2d: the mean of each window, without padding and without what is
// outside of the image in ceil_mode.
//
// The reference computes in float32: the sum of (x - zero) * scale, over the elements
// of a row and row by row, divided by their number and by the scale, rounded to nearest
// even. That is the rounded mean of integers, unless it is close to the middle between
// two: then the intermediate roundings decide, and it is computed as written.
#ifndef EMBER_KERNELS_CORTEX_M_QUANTIZED_AVG_POOL2D_H
#define EMBER_KERNELS_CORTEX_M_QUANTIZED_AVG_POOL2D_H

#include "kernels/engine/int8/pool_s8.h"
#include "kernels/engine/mathf.h"

typedef struct ember_avg_pool_s8 {
    ember_pool_s8_t pool;
    float scale;
    int32_t zero;
    int32_t doubt; // a mean is close within this many parts of 2 * elements
} ember_avg_pool_s8_t;

EMBER_MUST_USE ember_status_t ember_avg_pool_s8_prepare(ember_node_t *node,
                                                        void *state);

// Reads the three arguments from `first` on that say how integers become numbers: the
// scale, and `*zero`.
float ember_avg_pool_s8_scale(ember_node_t *node, uint32_t first, int32_t *zero);

// The result for `count` elements with this sum, as the reference computes it, before
// the zero point is added and what exceeds int8 is cut.
static inline float ember_avg_pool_s8_steps(float sum, int32_t count, float scale) {
    return ember_roundf(sum / (float)count / scale);
}

// The result for one channel of a window, from the sum of its elements; `x` is the
// channel's first one.
int8_t ember_avg_pool_s8_mean(const ember_avg_pool_s8_t *s, ember_window_s8_t window,
                              const int8_t *x, int32_t sum);

// Computes `count` channels of a window, from its first one on.
void ember_avg_pool_s8_channels(const ember_avg_pool_s8_t *s, ember_window_s8_t window,
                                int8_t *y, int32_t count);

// For variants: the same prepare, which requires channels_last, and windows whose sums
// fit an int16.
EMBER_MUST_USE ember_status_t ember_avg_pool_s8_prepare_last(ember_node_t *node,
                                                             void *state);

#endif // EMBER_KERNELS_CORTEX_M_QUANTIZED_AVG_POOL2D_H
