// SPDX-License-Identifier: Apache-2.0
// Pooling over windows of images (n, h, w, c), a chunk of channels at a time.
#ifndef EMBER_XNNPACK_POOLING_H
#define EMBER_XNNPACK_POOLING_H

#include "elements.h"
#include "window.h"

// Values of the chunk's channels, for one output pixel.
typedef struct ember_xnn_pool {
    float y[XNN_CHUNK];
    float x[XNN_CHUNK]; // the current tap
    uint32_t count;     // channels
    uint32_t taps;      // in the image, before this one
    uint32_t place;     // of this one in the window, counted column by column
} ember_xnn_pool_t;

typedef void (*ember_xnn_pool_fn)(ember_xnn_pool_t *pool);

ember_status_t ember_xnn_pool_shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node);

// `take` is called for each tap in the image, `finish` at the end of a pixel; either
// may be NULL. `pool` may be the first member of a struct that both know.
void ember_xnn_pool_run(const ember_xnn_node_t *node, const ember_xnn_window_t *window,
                        ember_xnn_pool_t *pool, ember_xnn_pool_fn take,
                        ember_xnn_pool_fn finish);

#endif // EMBER_XNNPACK_POOLING_H
