// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions, for kernels depthwise_conv_2d_*.c.
#ifndef EMBER_XNNPACK_DEPTHWISE_H
#define EMBER_XNNPACK_DEPTHWISE_H

#include "window.h"

// Up to this many taps XNNPACK adds column by column of the window; more taps, or those
// of channels with several outputs, row by row, as in other convolutions.
enum { XNN_MOST_TAPS = 25 };

static inline bool xnn_by_columns(const ember_xnn_node_t *node) {
    const uint32_t *kernel = node->params + CONV_KERNEL;
    return node->params[CONV_GROUP_OUTPUTS] == 1 && kernel[0] <= XNN_MOST_TAPS &&
           kernel[1] <= XNN_MOST_TAPS && kernel[0] * kernel[1] <= XNN_MOST_TAPS;
}

// float16: such sums are rounded after each tap; with more than nine taps there are two
// sums, of every other tap each, which are added at the end.
enum { XNN_MOST_TAPS_ONCE = 9 };

static inline bool xnn_by_halves(const ember_xnn_node_t *node) {
    const uint32_t *kernel = node->params + CONV_KERNEL;
    return xnn_by_columns(node) && kernel[0] * kernel[1] > XNN_MOST_TAPS_ONCE;
}

// Adds one tap to the sums of all output channels: `a` and `w` are where the pixel and
// the tap's weights begin; taps are numbered in the order in which they are added. Sums
// are float, or uint32_t for int8.
typedef void (*ember_xnn_tap_fn)(const ember_xnn_node_t *node, void *sums, size_t a,
                                 size_t w, uint32_t tap);

typedef struct ember_xnn_depthwise {
    const ember_xnn_node_t *node;
    ember_xnn_tap_fn add;
    void (*end)(const ember_xnn_node_t *node, void *sums); // after all taps, or NULL
    uint32_t channels;                                     // of the output
} ember_xnn_depthwise_t;

// Channels of the output.
uint32_t ember_xnn_depthwise_outputs(const ember_xnn_node_t *node);

ember_status_t ember_xnn_depthwise_shape(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node);
ember_status_t ember_xnn_depthwise_prepare(ember_xnn_graph_t *graph,
                                           ember_xnn_node_t *node,
                                           const ember_xnn_type_t *type);
void ember_xnn_depthwise_run(const ember_xnn_graph_t *graph,
                             const ember_xnn_node_t *node, const ember_xnn_type_t *type,
                             const ember_xnn_depthwise_t *depthwise);

#endif // EMBER_XNNPACK_DEPTHWISE_H
