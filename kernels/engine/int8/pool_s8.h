// SPDX-License-Identifier: Apache-2.0
// Pooling of int8 images in two dimensions: the geometry that quantized_max_pool2d and
// quantized_avg_pool2d share, and the walk over windows. Padding has no elements:
// windows end at the image.
#ifndef EMBER_KERNELS_ENGINE_INT8_POOL_S8_H
#define EMBER_KERNELS_ENGINE_INT8_POOL_S8_H

#include "ember/node.h"

// An image: steps are in bytes.
typedef struct ember_image_s8 {
    int32_t height;
    int32_t width;
    int32_t batch; // step from an image to the next
    int32_t row;
    int32_t column;
    int32_t channel; // 1 in channels_last order
} ember_image_s8_t;

typedef struct ember_pool_s8 {
    const int8_t *x;
    int8_t *y;
    int32_t batches;
    int32_t channels;
    ember_image_s8_t in;
    ember_image_s8_t out;
    int32_t kernel[2]; // height, width
    int32_t stride[2];
    int32_t padding[2];
} ember_pool_s8_t;

enum { EMBER_POOL_S8_LIMIT = 1 << 28 }; // larger parameters could only overflow sums

// Reads one number for both dimensions, or one for each, in [low, the limit].
void ember_pool_s8_pair(ember_node_t *node, uint32_t arg, int32_t low, int32_t *pair);

// Reads the tensors and the lists kernel_size, stride and padding, which are arguments
// 1 to 3; `out` is the output. With `ceil` the last windows may extend past the image.
// UNSUPPORTED if they are not int8.
EMBER_MUST_USE ember_status_t ember_pool_s8_prepare(ember_node_t *node,
                                                    ember_pool_s8_t *pool, bool ceil,
                                                    uint32_t out);

// The same for int16, without `ceil`.
EMBER_MUST_USE ember_status_t ember_pool_s16_prepare(ember_node_t *node,
                                                     ember_pool_s8_t *pool,
                                                     uint32_t out);

// A window: its first element of channel 0, and its rows and columns in the image, at
// least one each.
typedef struct ember_window_s8 {
    const int8_t *x;
    int32_t rows;
    int32_t columns;
} ember_window_s8_t;

// Computes all channels of one window; `y` is channel 0 of its output.
typedef void (*ember_pool_s8_fn)(const void *state, ember_window_s8_t window,
                                 int8_t *y);

// Calls `one` with `state` for each window.
void ember_pool_s8_run(const ember_pool_s8_t *pool, ember_pool_s8_fn one,
                       const void *state);

// The part of window `at` of dimension `d` (0: rows) inside the image: from `*first`
// on, as many as returned.
int32_t ember_pool_s8_cut(const ember_pool_s8_t *pool, uint32_t d, int32_t at,
                          int32_t *first);

// Whether channels are adjacent on both sides.
static inline bool ember_pool_s8_channels_last(const ember_pool_s8_t *pool) {
    return pool->in.channel == 1 && pool->out.channel == 1;
}

#endif // EMBER_KERNELS_ENGINE_INT8_POOL_S8_H
