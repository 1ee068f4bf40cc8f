// SPDX-License-Identifier: Apache-2.0
// unfold_copy: windows of one dimension, as a last dimension.
#include "kernels/engine/copy.h"

enum { SELF, DIM, SIZE, STEP, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    const uint32_t dim = ember_node_dim(node, DIM, view.rank);
    const bool scalar = view.rank == 0;
    if (scalar) { // counts as one element
        ember_view_insert(&view, 0, 1, 0);
    }
    const int32_t whole = view.sizes[dim];
    const int32_t stride = view.strides[dim];
    const int32_t size = ember_node_int_in(node, SIZE, 0, whole);
    const int64_t step = ember_node_int(node, STEP);
    if (ember_node_status(node) != EMBER_OK || step <= 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "unfold: bad size or step");
    }
    const int32_t count = (int32_t)((whole - size) / step) + 1;
    // Only windows of no elements leave a start past the end.
    ember_view_slice(&view, dim, 0, count, size > 0 && count > 1 ? (int32_t)step : 0);
    ember_view_insert(&view, view.rank, size, stride);
    if (scalar) { // which has one window
        ember_view_drop(&view, 0);
    }
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(unfold_copy, ember_copy_t);
