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

// --- means ---------------------------------------------------------------------------

// The windows of a mean; a whole image is one window, and one row.
EMBER_MUST_USE bool ember_xnn_mean_window(const ember_xnn_node_t *node,
                                          ember_xnn_window_t *window);
ember_status_t ember_xnn_mean_shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node);

// What the sum of an image becomes.
typedef struct ember_xnn_mean {
    float factor; // it is multiplied by this
    float start;  // and this is added
} ember_xnn_mean_t;

// From int8 to int8: the elements themselves are added, and scales and zero points are
// applied at once, so that ties are rounded like XNNPACK's.
static inline ember_xnn_mean_t ember_xnn_mean_s8(const ember_xnn_node_t *node,
                                                 const ember_xnn_window_t *window) {
    const ember_xnn_value_t *in = node->in[0], *out = node->out[0];
    const float pixels = (float)window->x.kernel;
    const float factor = 1.0f / pixels * (in->scale / out->scale);
    const float start = (float)out->zero - (float)in->zero * pixels * factor;
    return (ember_xnn_mean_t){factor, start};
}

#endif // EMBER_XNNPACK_POOLING_H
