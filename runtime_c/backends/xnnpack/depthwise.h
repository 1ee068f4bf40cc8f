// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions, for kernels depthwise_conv_2d_*.c.
#ifndef EMBER_XNNPACK_DEPTHWISE_H
#define EMBER_XNNPACK_DEPTHWISE_H

#include "window.h"

// Adds one tap to the sums of all output channels: `a` and `w` are where the pixel and
// the tap's weights begin. Sums are float, or uint32_t for int8.
typedef void (*ember_xnn_tap_fn)(const ember_xnn_node_t *node, void *sums, size_t a,
                                 size_t w);

typedef struct ember_xnn_depthwise {
    const ember_xnn_node_t *node;
    ember_xnn_tap_fn add;
    uint32_t channels; // of the output
} ember_xnn_depthwise_t;

ember_status_t ember_xnn_depthwise_shape(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node);
ember_status_t ember_xnn_depthwise_prepare(ember_xnn_graph_t *graph,
                                           ember_xnn_node_t *node,
                                           const ember_xnn_type_t *type);
void ember_xnn_depthwise_run(const ember_xnn_graph_t *graph,
                             const ember_xnn_node_t *node, const ember_xnn_type_t *type,
                             ember_xnn_tap_fn add);

#endif // EMBER_XNNPACK_DEPTHWISE_H
