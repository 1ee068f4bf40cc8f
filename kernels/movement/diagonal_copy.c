// SPDX-License-Identifier: Apache-2.0
// diagonal_copy: the diagonal of two dimensions, as a last dimension.
#include "kernels/engine/copy.h"

enum { SELF, OFFSET, DIM1, DIM2, OUT };

// Length of the diagonal that starts at row `down`, column `right`.
static int64_t length_of(int64_t rows, int64_t columns, int64_t down, int64_t right) {
    const int64_t high = rows - down;
    const int64_t wide = columns - right;
    const int64_t least = high < wide ? high : wide;

    return least < 0 ? 0 : least;
}

static void diagonal(ember_view_t *view, uint32_t row, uint32_t column,
                     int64_t offset) {
    const int64_t down = offset < 0 ? -offset : 0;
    const int64_t right = offset > 0 ? offset : 0;
    const int64_t length =
        length_of(view->sizes[row], view->sizes[column], down, right);

    if (length > 0) {
        view->offset += (int32_t)down * view->strides[row];
        view->offset += (int32_t)right * view->strides[column];
    }
    const int32_t stride = length > 1 ? view->strides[row] + view->strides[column] : 0;
    ember_view_drop(view, row > column ? row : column);
    ember_view_drop(view, row > column ? column : row);
    ember_view_insert(view, view->rank, (int32_t)length, stride);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    const int32_t offset = ember_node_int_in(node, OFFSET, -INT32_MAX, INT32_MAX);
    const uint32_t row = ember_node_dim(node, DIM1, view.rank);
    const uint32_t column = ember_node_dim(node, DIM2, view.rank);
    if (ember_node_status(node) != EMBER_OK || row == column) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "diagonal: bad dimensions");
    }
    diagonal(&view, row, column, offset);
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(diagonal_copy, ember_copy_t);
