// SPDX-License-Identifier: Apache-2.0
// index_select: entries of one dimension picked by a vector of indices.
#include "kernels/engine/index.h"
#include "kernels/engine/pick.h"

enum { SELF, DIM, INDEX, OUT };

// A scalar index stands for a vector of one.
static const int32_t one_size[] = {1};
static const uint8_t one_order[] = {0};

// Likewise a scalar self, and the result is a scalar.
static ember_status_t prepare_scalar(ember_pick_t *pick, ember_node_t *node,
                                     const ember_pick_args_t *args) {
    ember_tensor_t out;
    ember_view_t from, to;

    ember_view_arg(&from, node, SELF);
    ember_node_output(node, OUT, 0, one_size, &out);
    if (args->tensors[0].numel != 1) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "index_select: a scalar has one element");
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&to, &out);
    ember_view_insert(&from, 0, 1, 0);
    ember_view_insert(&to, 0, 1, 0);
    return ember_pick_prepare(pick, node, args, &from, &to);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_pick_t *pick = state;
    ember_pick_args_t args = {.count = 1};
    ember_tensor_t self, *index = &args.tensors[0];

    ember_node_tensor(node, SELF, &self);
    ember_node_tensor(node, INDEX, index);
    args.dims[0] = ember_node_dim(node, DIM, self.rank);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (index->rank > 1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index_select: rank");
    }
    if (!ember_is_index_dtype(index->dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "index_select: wrong dtype of index");
    }
    if (index->rank == 0) {
        index->rank = 1;
        index->sizes = one_size;
        index->dim_order = one_order;
    }
    pick->wrap = pick->write = pick->add = false;
    if (self.rank == 0) {
        return prepare_scalar(pick, node, &args);
    }
    return ember_pick_read(pick, node, &args, SELF, OUT);
}

static int32_t run(void *state) {
    return ember_pick_run(state);
}

EMBER_KERNEL(index_select, ember_pick_t);
