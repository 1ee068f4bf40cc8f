// SPDX-License-Identifier: Apache-2.0
// quantized_max_pool2d: the largest element of each window, clamped.
#ifndef EMBER_KERNELS_CORTEX_M_QUANTIZED_MAX_POOL2D_H
#define EMBER_KERNELS_CORTEX_M_QUANTIZED_MAX_POOL2D_H

#include "kernels/engine/int8/pool_s8.h"
#include "kernels/engine/int8/requantize.h"

typedef struct ember_max_pool_s8 {
    ember_pool_s8_t pool;
    ember_limits_s8_t limits;
} ember_max_pool_s8_t;

EMBER_MUST_USE ember_status_t ember_max_pool_s8_prepare(ember_node_t *node,
                                                        void *state);

// Computes `count` channels of a window, from its first one on.
void ember_max_pool_s8_channels(const ember_max_pool_s8_t *s, ember_window_s8_t window,
                                int8_t *y, int32_t count);

// For variants: the same prepare, which requires channels_last.
EMBER_MUST_USE ember_status_t ember_max_pool_s8_prepare_last(ember_node_t *node,
                                                             void *state);

#endif // EMBER_KERNELS_CORTEX_M_QUANTIZED_MAX_POOL2D_H
