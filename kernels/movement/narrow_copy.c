// SPDX-License-Identifier: Apache-2.0
// narrow_copy: `length` elements of one dimension from `start`.
#include "kernels/engine/copy.h"

enum { SELF, DIM, START, LENGTH, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    const uint32_t dim = ember_node_dim(node, DIM, view.rank);
    const int32_t size = view.rank == 0 ? 0 : view.sizes[dim];
    const int32_t given = ember_node_int_in(node, START, -size, size);
    const int32_t start = given < 0 ? given + size : given;
    const int32_t length = ember_node_int_in(node, LENGTH, 0, size - start);
    if (ember_node_status(node) != EMBER_OK || view.rank == 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "narrow: the range is out of bounds");
    }
    ember_view_slice(&view, dim, start, length, 1);
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(narrow_copy, ember_copy_t);
