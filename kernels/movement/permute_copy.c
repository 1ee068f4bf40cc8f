// SPDX-License-Identifier: Apache-2.0
// permute_copy: permutes the dimensions.
#include "kernels/movement/permute_copy.h"

#include "kernels/engine/view_args.h"

enum { SELF, DIMS, OUT };

static void permute(ember_view_t *view, ember_node_t *node) {
    const ember_view_t from = *view;
    uint32_t seen = 0;

    if (ember_node_list_count(node, DIMS) != view->rank) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "permute: wrong number of dimensions");
        return;
    }
    for (uint32_t d = 0; d < view->rank; d++) {
        const int64_t given = ember_node_list_int(node, DIMS, d);
        const uint32_t dim = ember_wrap_dim(node, given, view->rank);
        seen |= 1u << dim;
        view->sizes[d] = from.sizes[dim];
        view->strides[d] = from.strides[dim];
    }
    if (seen != (1u << view->rank) - 1u) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "permute: a dimension occurs twice");
    }
}

ember_status_t ember_permute_copy_prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    permute(&view, node);
    return ember_copy_output(state, node, OUT, &view);
}

bool ember_permute_copy_is_matrix(const ember_copy_t *copy) {
    if (copy->rank < 2 || copy->run != copy->element_size) {
        return false;
    }
    const ember_copy_dim_t rows = copy->dims[copy->rank - 1];
    const ember_copy_dim_t columns = copy->dims[copy->rank - 2];
    return rows.dst == (int32_t)copy->run && columns.src == (int32_t)copy->run &&
           columns.dst == (int64_t)rows.count * rows.dst;
}

bool ember_permute_copy_is_turn(const ember_copy_t *copy) {
    return copy->element_size == 1 && ember_permute_copy_is_matrix(copy) &&
           copy->dims[copy->rank - 1].src == copy->dims[copy->rank - 2].count;
}

void ember_permute_copy_matrices(const ember_copy_t *copy, ember_copy_inner_fn inner) {
    ember_copy_t walk = *copy;

    walk.rank--;
    ember_copy_walk(&walk, walk.dst, walk.src, inner);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_permute_copy_prepare(node, state);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(permute_copy, ember_copy_t);
