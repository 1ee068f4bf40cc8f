// SPDX-License-Identifier: Apache-2.0
// The elements of several views of one shape, one by one in logical order.
#ifndef EMBER_KERNELS_ENGINE_CURSOR_H
#define EMBER_KERNELS_ENGINE_CURSOR_H

#include "kernels/engine/strided.h"
#include "kernels/engine/view.h"

// Fills a table of EMBER_WALK_ITEMS(count) for `views`, which have the same sizes, none
// of them 0. Returns the dimensions used, at least 1; 0 if it would need more than
// EMBER_WALK_DIMS.
uint32_t ember_cursor_table(const ember_view_t *const *views, uint32_t count,
                            int32_t *table);

typedef struct ember_cursor {
    ember_walk_t walk;
    const int32_t *row;
    int32_t left; // elements of the row, this one included
    char *at[EMBER_WALK_OPERANDS];
} ember_cursor_t;

// Starts at the first element; `at` is the position in each operand.
void ember_cursor_start(ember_cursor_t *cursor, const int32_t *table, uint32_t dims,
                        uint32_t operands, char *const *at);

// Moves to the next element. False after the last.
bool ember_cursor_next(ember_cursor_t *cursor);

#endif // EMBER_KERNELS_ENGINE_CURSOR_H
