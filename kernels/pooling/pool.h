// SPDX-License-Identifier: Apache-2.0
// Two-dimensional pooling: the geometry that max and average pools share, and the
// walk over outputs.
#ifndef EMBER_KERNELS_POOLING_POOL_H
#define EMBER_KERNELS_POOLING_POOL_H

#include "kernels/engine/element.h"
#include "kernels/engine/view.h"

typedef struct ember_pool {
    const char *x; // (batches, channels, in[0], in[1])
    char *y;       // (batches, channels, out[0], out[1])
    int32_t batches;
    int32_t channels;
    int32_t in[2];
    int32_t out[2];
    int32_t kernel[2];
    int32_t stride[2];
    int32_t padding[2];
    int32_t dilation[2];
    int32_t x_steps[4]; // bytes
    int32_t y_steps[4]; // bytes
    uint8_t dtype;
} ember_pool_t;

// Where the windows' parameters are among the arguments; 0: the operator has none.
typedef struct ember_pool_args {
    uint8_t kernel, stride, padding, dilation, ceil_mode, out;
} ember_pool_args_t;

// Reads input (argument 0) and parameters, and sets the shape of the output. With
// `kernel` 0 the windows are adaptive: argument 1 is the size of the output.
EMBER_MUST_USE ember_status_t ember_pool_prepare(ember_pool_t *pool, ember_node_t *node,
                                                 const ember_pool_args_t *args);

// One output: `x` at its plane, `y` at the element, position (h, w).
typedef void (*ember_pool_fn)(const void *state, const char *x, char *y, int32_t h,
                              int32_t w);

// Calls `one` with `state` for every output.
void ember_pool_each(const ember_pool_t *pool, ember_pool_fn one, const void *state);

// Adds the elements of rows [top, bottom) and columns [left, right) of a plane.
ember_number_t ember_pool_sum(const ember_pool_t *pool, const char *x, int32_t top,
                              int32_t bottom, int32_t left, int32_t right);

#endif // EMBER_KERNELS_POOLING_POOL_H
