// SPDX-License-Identifier: Apache-2.0
// Pools of the dialect. quantized_max_pool2d returns the maximum of each window, or the
// minimum of the dtype if all of the window is padding.
#ifndef EMBER_KERNELS_CADENCE_POOL_H
#define EMBER_KERNELS_CADENCE_POOL_H

#include "kernels/cadence/window.h"

typedef struct ember_cadence_pool {
    ember_cadence_window_t window;
    const uint8_t *x;
    uint8_t *y;
    uint8_t flip; // changes the order of bytes to that of uint8
} ember_cadence_pool_t;

// Indices of a pool's arguments.
typedef struct ember_cadence_pool_args {
    uint8_t kernel;
    ember_cadence_lists_t lists; // no dilation: 1
    uint8_t out;
    bool floats; // floats are accepted, too
} ember_cadence_pool_args_t;

// Reads a pool of images of bytes, or of float32, and sets the shape of its output.
EMBER_MUST_USE ember_status_t ember_cadence_pool(ember_cadence_pool_t *pool,
                                                 ember_node_t *node,
                                                 const ember_cadence_pool_args_t *args,
                                                 bool last, uint8_t *dtype);

EMBER_MUST_USE ember_status_t ember_cadence_max_pool(ember_cadence_pool_t *pool,
                                                     ember_node_t *node, bool last);
void ember_cadence_max_pool_run(const ember_cadence_pool_t *pool);

#endif // EMBER_KERNELS_CADENCE_POOL_H
