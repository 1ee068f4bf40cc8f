// SPDX-License-Identifier: Apache-2.0
// What the kernels that end a region of rows share: the table, checked.
#ifndef EMBER_KERNELS_ROWS_ROWS_TABLE_H
#define EMBER_KERNELS_ROWS_ROWS_TABLE_H

#include "ember/method.h"
#include "kernels/rows/rows.h"

// Arguments of the call.
enum {
    EMBER_ROWS_TABLE,
    EMBER_ROWS_NODES,
    EMBER_ROWS_INPUTS,
    EMBER_ROWS_SLAB,
    EMBER_ROWS_OVER, // for the planner
    EMBER_ROWS_OUTPUTS
};

typedef struct ember_rows_edge {
    uint8_t *data;
    uint32_t bytes;  // of a plane
    uint32_t planes; // of which each has a part of a row
} ember_rows_edge_t;

typedef struct ember_rows {
    const ember_step_t *nodes;
    const ember_rows_window_t *windows;
    const ember_rows_action_t *actions;
    const uint8_t *steps;
    uint32_t step_count;
    uint8_t *slab;
    uint32_t edge_count;
    uint32_t input_count;
    ember_rows_edge_t edges[EMBER_ROWS_EDGES]; // inputs, then outputs
} ember_rows_t;

// Reads and checks the call's arguments and the table.
ember_status_t ember_rows_prepare(ember_node_t *node, ember_rows_t *s);

#endif // EMBER_KERNELS_ROWS_ROWS_TABLE_H
