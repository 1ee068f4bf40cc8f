// SPDX-License-Identifier: Apache-2.0
// Elements in logical order. Contract: cursor.h.
#include "kernels/engine/cursor.h"

#include <string.h>

uint32_t ember_cursor_table(const ember_view_t *const *views, uint32_t count,
                            int32_t *table) {
    int32_t rows[EMBER_VIEW_RANK * (EMBER_WALK_OPERANDS + 1)];
    const uint32_t width = count + 1;

    for (uint32_t d = 0; d < views[0]->rank; d++) {
        rows[d * width] = views[0]->sizes[d];
        for (uint32_t k = 0; k < count; k++) {
            rows[d * width + 1 + k] = views[k]->strides[d];
        }
    }
    const uint32_t dims = ember_walk_join(rows, views[0]->rank, count);
    if (dims > EMBER_WALK_DIMS) {
        return 0;
    }
    memcpy(table, rows, dims * width * sizeof(rows[0]));
    return dims;
}

static void start_row(ember_cursor_t *cursor) {
    cursor->left = cursor->row[0];
    memcpy(cursor->at, cursor->walk.at, cursor->walk.operands * sizeof(cursor->at[0]));
}

void ember_cursor_start(ember_cursor_t *cursor, const int32_t *table, uint32_t dims,
                        uint32_t operands, char *const *at) {
    ember_walk_start(&cursor->walk, table, dims, operands);
    memcpy(cursor->walk.at, at, operands * sizeof(at[0]));
    cursor->row = table + (dims - 1) * (operands + 1);
    start_row(cursor);
}

bool ember_cursor_next(ember_cursor_t *cursor) {
    if (--cursor->left > 0) {
        for (uint32_t k = 0; k < cursor->walk.operands; k++) {
            cursor->at[k] += cursor->row[1 + k];
        }
        return true;
    }
    if (!ember_walk_next(&cursor->walk)) {
        return false;
    }
    start_row(cursor);
    return true;
}
