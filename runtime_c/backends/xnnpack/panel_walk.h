// SPDX-License-Identifier: Apache-2.0
// What walks over panels share: a node's weights, and scratch that is divided up.
#ifndef EMBER_XNNPACK_PANEL_WALK_H
#define EMBER_XNNPACK_PANEL_WALK_H

#include "panel.h"

static inline uint32_t xnn_padded(uint32_t count, uint32_t unit) {
    return (count + unit - 1) / unit * unit;
}

// Asks for scratch: start and scales of columns, a panel's rows, and windows of a
// convolution. Then packs the weights.
ember_status_t ember_xnn_panel_weights(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                       const ember_xnn_form_t *form,
                                       const ember_xnn_geometry_t *geometry,
                                       bool has_windows);

// A panel at the first column of the first group, whose starts and scales are filled.
// The scratch behind its rows.
uint8_t *ember_xnn_panel_begin(ember_xnn_panel_t *panel, const ember_xnn_graph_t *graph,
                               const ember_xnn_node_t *node,
                               const ember_xnn_form_t *form,
                               const ember_xnn_geometry_t *geometry);

// Writes all columns of a group whose first one is at `at` among those that start and
// scales have.
void ember_xnn_panel_multiply(const ember_xnn_panel_t *panel, uint32_t at);

#endif // EMBER_XNNPACK_PANEL_WALK_H
