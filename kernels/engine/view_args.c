// SPDX-License-Identifier: Apache-2.0
// Arguments applied to views. Contract: view_args.h.
#include "kernels/engine/view_args.h"

uint32_t ember_wrap_dim(ember_node_t *node, int64_t dim, uint32_t rank) {
    const int64_t dims = rank == 0 ? 1 : rank;
    const int64_t wrapped = dim < 0 ? dim + dims : dim;

    if (wrapped < 0 || wrapped >= dims) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "dimension out of range");
        return 0;
    }
    return (uint32_t)wrapped;
}

uint32_t ember_listed_dims(ember_node_t *node, uint32_t arg, uint32_t rank) {
    const uint32_t count = ember_node_list_count(node, arg);
    uint32_t dims = 0;

    for (uint32_t i = 0; i < count; i++) {
        const int64_t dim = ember_node_list_int(node, arg, i);
        const uint32_t bit = 1u << ember_wrap_dim(node, dim, rank);
        if ((dims & bit) != 0) {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "a dimension is named twice");
        }
        dims |= bit;
    }
    return dims;
}

// `at` counted from the front and clamped into [0, size].
static int32_t clamp_end(int64_t at, int32_t size) {
    const int64_t from_front = at < 0 ? at + size : at;

    if (from_front < 0) {
        return 0;
    }
    return from_front > size ? size : (int32_t)from_front;
}

void ember_view_slice_args(ember_view_t *view, ember_node_t *node, uint32_t arg) {
    const uint32_t dim = ember_node_dim(node, arg, view->rank);
    const int64_t start = ember_node_int_or(node, arg + 1, 0);
    const int64_t end = ember_node_int_or(node, arg + 2, INT64_MAX);
    const int64_t step = ember_node_int(node, arg + 3);

    if (ember_node_status(node) != EMBER_OK) {
        return;
    }
    if (view->rank == 0 || step <= 0) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "slice: rank 0, or step below 1");
        return;
    }
    const int32_t first = clamp_end(start, view->sizes[dim]);
    const int32_t past = clamp_end(end, view->sizes[dim]);
    const int32_t count = past > first ? (int32_t)((past - first - 1) / step) + 1 : 0;
    ember_view_slice(view, dim, first, count, count > 1 ? (int32_t)step : 1);
}

void ember_view_select_args(ember_view_t *view, ember_node_t *node, uint32_t arg) {
    const uint32_t dim = ember_node_dim(node, arg, view->rank);
    const int64_t index = ember_node_int(node, arg + 1);

    if (ember_node_status(node) != EMBER_OK) {
        return;
    }
    const int32_t size = view->rank == 0 ? 0 : view->sizes[dim];
    if (index < -(int64_t)size || index >= size) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "select: index out of range");
        return;
    }
    ember_view_slice(view, dim, (int32_t)(index < 0 ? index + size : index), 1, 1);
    ember_view_drop(view, dim);
}

uint32_t ember_shape_args(ember_node_t *node, uint32_t arg, uint32_t numel,
                          int32_t sizes[EMBER_MAX_RANK]) {
    const uint32_t rank = ember_node_ints(node, arg, sizes, EMBER_MAX_RANK);
    uint32_t inferred = rank;
    uint64_t known = 1;

    for (uint32_t d = 0; d < rank; d++) {
        if (sizes[d] >= 0) {
            known *= (uint32_t)sizes[d];
            known = known > UINT32_MAX ? UINT32_MAX : known; // past any tensor
        } else if (sizes[d] == -1 && inferred == rank) {
            inferred = d;
        } else {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "shape: negative size");
            return 0;
        }
    }
    if (inferred < rank) {
        if (known == 0 || numel % known != 0) {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "shape: cannot infer a size");
            return 0;
        }
        sizes[inferred] = (int32_t)(numel / known);
    }
    return rank;
}
