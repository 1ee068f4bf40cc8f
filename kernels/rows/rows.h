// SPDX-License-Identifier: Apache-2.0
// A region of a method whose nodes run row by row over line buffers.
//
//     rows_enter(nodes, inputs, slab, outputs)   jumps over the nodes
//     node, node, ...             prepared as ever, each for one row of its output
//     rows(table, nodes, inputs, slab, over, outputs)   runs them by the table
//
// `rows_fed(.., outputs, cursor, image_rows)` has one row of its input at a time: it
// goes on until the table wants another row, notes in the cursor where it is, and jumps
// to the end of the method. With the last row it goes through to the calls behind it.
// The cursor is a state of the method.
//
// Between two nodes lies a window: as many rows of a tensor as its readers need, in
// `slab`. A new row comes in at the end of the window, the others move up, so every
// node always reads and writes at the same addresses. Inputs and outputs are whole
// tensors, from which and to which rows are copied, one after the other. Where their
// channels are planes, a row is a part of each plane; in a window it is in one piece.
//
// A node that may write its result over what it reads has no window for that: where the
// last row of its own window is, a second window says so, of one row, which never
// moves.
//
// Windows may share bytes that they never need at once. Rows may move up before a call
// writes one, or as soon as they were read, by a step of their own: the action of the
// call then names a window of one row, which never moves.
//
// The table is a constant of bytes, aligned to 4: ember_rows_head_t, then its windows,
// its actions, and its steps, a byte each, the number of an action. It comes from a
// program and is checked like one.
#ifndef EMBER_KERNELS_ROWS_ROWS_H
#define EMBER_KERNELS_ROWS_ROWS_H

#include "ember/node.h"

typedef struct ember_rows_head {
    uint16_t windows;
    uint16_t actions;
    uint32_t steps;
} ember_rows_head_t;

typedef struct ember_rows_window {
    uint32_t at;     // bytes from the start of the slab
    uint32_t row;    // bytes
    uint8_t rows;    // how many it holds
    uint8_t fill;    // byte of rows outside the image
    uint16_t beside; // bytes at either end of a row that lie beside the image
} ember_rows_window_t;

enum {
    EMBER_ROWS_SKIP,  // move the window's rows up by one; then, for its last row:
    EMBER_ROWS_FILL,  // it lies outside of the image
    EMBER_ROWS_IN,    // copy the next row of input `which`
    EMBER_ROWS_RUN,   // run node `which`
    EMBER_ROWS_OUT,   // move nothing; copy the last row to the next of the output that
                      // is edge `which`: outputs are counted on behind the inputs
    EMBER_ROWS_LEAST, // as FILL, of floats that are -infinity
};

typedef struct ember_rows_action {
    uint8_t what; // EMBER_ROWS_*
    uint8_t which;
    uint16_t window;
} ember_rows_action_t;

enum { EMBER_ROWS_EDGES = 8 }; // inputs and outputs together, at most

typedef struct ember_rows_enter {
    uint64_t work; // steps of all that stands before the nodes
    int32_t next;  // index of the call of rows, + 1
} ember_rows_enter_t;

int32_t ember_run_rows_enter(void *state);
int32_t ember_run_rows_fed(void *state);

#endif // EMBER_KERNELS_ROWS_ROWS_H
