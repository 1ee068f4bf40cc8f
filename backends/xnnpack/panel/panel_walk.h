// SPDX-License-Identifier: Apache-2.0
// What walks over panels share: a node's weights, and the division of scratch.
#ifndef EMBER_XNNPACK_PANEL_WALK_H
#define EMBER_XNNPACK_PANEL_WALK_H

#include "panel.h"

static inline uint32_t xnn_padded(uint32_t count, uint32_t unit) {
    return (count + unit - 1) / unit * unit;
}

// Rows that are `step` bytes apart; the last one is repeated if there are fewer than
// eight.
static inline void xnn_panel_find(const void **from, const uint8_t *first, size_t step,
                                  uint32_t rows) {
    uint32_t i = 0;
    for (; i + XNN_PANEL <= rows; i += XNN_PANEL) {
#pragma GCC unroll 8
        for (uint32_t j = 0; j < XNN_PANEL; j++, first += step) {
            from[i + j] = first;
        }
    }
    for (; i < rows; i++, first += step) {
        from[i] = first;
    }
    for (; i % XNN_PANEL != 0; i++) {
        from[i] = from[i - 1];
    }
}

// Asks for scratch: start and scales of columns; a panel's rows, each followed by
// `bytes` bytes for each element; then `own` bytes. False if it would be too much.
EMBER_MUST_USE bool ember_xnn_panel_scratch(ember_xnn_node_t *node,
                                            const ember_xnn_form_t *form,
                                            const ember_xnn_geometry_t *geometry,
                                            uint64_t bytes, uint64_t own);

// A panel at the first column of the first group, with starts and scales filled.
// Returns the scratch after its rows.
uint8_t *ember_xnn_panel_begin(ember_xnn_panel_t *panel, const ember_xnn_graph_t *graph,
                               const ember_xnn_node_t *node,
                               const ember_xnn_form_t *form,
                               const ember_xnn_geometry_t *geometry);

// Rows that a panel may have.
uint32_t ember_xnn_panel_most(const ember_xnn_panel_t *panel);

// Writes all columns of a group whose first column is at index `at` of starts and
// scales.
void ember_xnn_panel_multiply(const ember_xnn_panel_t *panel, uint32_t at);

// Writes all columns of `rows` rows of k elements from `from` on.
void ember_xnn_panel_rows(ember_xnn_panel_t *panel, const uint8_t *from, uint32_t rows,
                          uint32_t k);

#endif // EMBER_XNNPACK_PANEL_WALK_H
