// SPDX-License-Identifier: Apache-2.0
// Pooling in two or three dimensions: the geometry that max and average pools share,
// and the walk over outputs. There are always three dimensions, depth, height and
// width; a two-dimensional pool has a depth of 1.
#ifndef EMBER_KERNELS_POOLING_POOL_H
#define EMBER_KERNELS_POOLING_POOL_H

#include "kernels/engine/element.h"
#include "kernels/engine/view.h"

enum { EMBER_POOL_DIMS = 3 };

// x is the larger side, which has the windows. Gradients flow the other way: then it is
// the output, and y is read.
typedef struct ember_pool {
    char *x; // (batches, channels, in...)
    char *y; // (batches, channels, out...)
    int32_t batches;
    int32_t channels;
    int32_t in[EMBER_POOL_DIMS];
    int32_t out[EMBER_POOL_DIMS];
    int32_t kernel[EMBER_POOL_DIMS];
    int32_t stride[EMBER_POOL_DIMS];
    int32_t padding[EMBER_POOL_DIMS];
    int32_t dilation[EMBER_POOL_DIMS];
    int32_t x_steps[EMBER_POOL_DIMS + 2]; // bytes
    int32_t y_steps[EMBER_POOL_DIMS + 2]; // bytes
    uint8_t dtype;
} ember_pool_t;

// Indices of the windows' parameters among the arguments; 0: the operator has none.
typedef struct ember_pool_args {
    uint8_t dims; // of the windows, 2 or 3
    uint8_t kernel, stride, padding, dilation, ceil_mode;
    uint8_t size; // of the output, if there is no kernel: adaptive windows
    uint8_t out;
    bool gradient; // arguments 0 and 1 are y and x; the output is shaped as x
} ember_pool_args_t;

// Reads argument 0 and parameters, and sets the shape of the output.
EMBER_MUST_USE ember_status_t ember_pool_prepare(ember_pool_t *pool, ember_node_t *node,
                                                 const ember_pool_args_t *args);

// One output: `x` at its plane (or volume), `y` at the element, position `at`.
typedef void (*ember_pool_fn)(const void *state, char *x, char *y,
                              const int32_t at[EMBER_POOL_DIMS]);

// Calls `one` with `state` for every output.
void ember_pool_each(const ember_pool_t *pool, ember_pool_fn one, const void *state);

// Positions of x, [first, past) in each dimension.
typedef struct ember_pool_box {
    int32_t first[EMBER_POOL_DIMS];
    int32_t past[EMBER_POOL_DIMS];
} ember_pool_box_t;

// The adaptive window of output `at`: [at * in / out, (at + 1) * in / out), the end
// rounded up.
ember_pool_box_t ember_pool_adaptive(const ember_pool_t *pool,
                                     const int32_t at[EMBER_POOL_DIMS]);

// Elements of a box; 0 when it has none.
int64_t ember_pool_volume(const ember_pool_box_t *box);

// Adds the elements of a box.
ember_number_t ember_pool_sum(const ember_pool_t *pool, const char *x,
                              const ember_pool_box_t *box);

// Gradients: sets all of x to 0, and adds `number` to each element of a box.
void ember_pool_clear(const ember_pool_t *pool);
void ember_pool_add(const ember_pool_t *pool, char *x, const ember_pool_box_t *box,
                    ember_number_t number);

#endif // EMBER_KERNELS_POOLING_POOL_H
