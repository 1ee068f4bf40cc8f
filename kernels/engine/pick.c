// SPDX-License-Identifier: Apache-2.0
// Blocks picked by index tensors. Contract: pick.h.
#include "kernels/engine/pick.h"

#include <string.h>

#include "kernels/engine/index.h"

ember_status_t ember_pick_list(ember_pick_args_t *args, ember_node_t *node,
                               uint32_t arg) {
    const uint32_t items = ember_node_list_count(node, arg);
    ember_tensor_t tensor;

    args->count = 0;
    for (uint32_t d = 0; d < items; d++) {
        if (!ember_node_list_tensor(node, arg, d, &tensor)) {
            continue;
        }
        if (args->count == EMBER_PICK_INDICES || !ember_is_index_dtype(tensor.dtype)) {
            return ember_node_fail(node, EMBER_UNSUPPORTED, "index: tensors");
        }
        args->tensors[args->count] = tensor;
        args->dims[args->count++] = d;
    }
    if (args->count == 0) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index: no index tensor");
    }
    return ember_node_status(node);
}

// The shape that the index tensors broadcast to.
static uint32_t index_shape(const ember_pick_args_t *args, ember_node_t *node,
                            int32_t *sizes) {
    const ember_tensor_t *tensors[EMBER_PICK_INDICES];
    uint32_t rank = 0;

    for (uint32_t k = 0; k < args->count; k++) {
        tensors[k] = &args->tensors[k];
    }
    if (!ember_broadcast_shape(tensors, args->count, sizes, &rank)) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "index: shapes do not broadcast");
        return 0;
    }
    return rank;
}

// The position of the index dimensions in the picked tensor.
static uint32_t index_place(const ember_pick_args_t *args) {
    for (uint32_t k = 1; k < args->count; k++) {
        if (args->dims[k] != args->dims[k - 1] + 1) {
            return 0;
        }
    }
    return args->dims[0];
}

static bool is_indexed(const ember_pick_args_t *args, uint32_t dim) {
    for (uint32_t k = 0; k < args->count; k++) {
        if (args->dims[k] == dim) {
            return true;
        }
    }
    return false;
}

uint32_t ember_pick_shape(const ember_pick_args_t *args, ember_node_t *node,
                          const ember_view_t *whole, int32_t *sizes) {
    int32_t broadcast[EMBER_MAX_RANK];
    const uint32_t rank = index_shape(args, node, broadcast);
    const uint32_t place = index_place(args);
    uint32_t at = 0;

    if (args->dims[args->count - 1] >= whole->rank ||
        whole->rank - args->count + rank > EMBER_MAX_RANK) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "index: too many dimensions");
        return 0;
    }
    for (uint32_t d = 0; d <= whole->rank; d++) {
        if (at == place) {
            memcpy(sizes + at, broadcast, rank * sizeof(sizes[0]));
            at += rank;
        }
        if (d < whole->rank && !is_indexed(args, d)) {
            sizes[at++] = whole->sizes[d];
        }
    }
    return whole->rank - args->count + rank;
}

// The layout of one block in both tensors, and each index's dimension.
static ember_status_t set_block(ember_pick_t *pick, ember_node_t *node,
                                const ember_pick_args_t *args,
                                const ember_view_t *whole, const ember_view_t *picked,
                                uint32_t rank) {
    ember_view_t from = *whole;
    ember_view_t to = *picked;

    for (uint32_t k = args->count; k-- > 0;) {
        pick->index[k] = (ember_pick_index_t){whole->sizes[args->dims[k]],
                                              whole->strides[args->dims[k]]};
        pick->indices[k] = args->tensors[k].data;
        pick->index_dtypes[k] = args->tensors[k].dtype;
        ember_view_drop(&from, args->dims[k]);
    }
    for (uint32_t d = 0; d < rank; d++) {
        ember_view_drop(&to, index_place(args));
    }
    return pick->write ? ember_copy_prepare(&pick->block, node, &from, &to)
                       : ember_copy_prepare(&pick->block, node, &to, &from);
}

// Steps of an index tensor of lower rank or with sizes of 1, as if broadcast.
static void index_steps(const ember_tensor_t *tensor, uint32_t rank,
                        const int32_t *sizes, int32_t *steps) {
    ember_view_t view;

    ember_view_tensor(&view, tensor);
    if (ember_view_expand(&view, rank, sizes)) { // index_shape() has ensured it
        memcpy(steps, view.strides, rank * sizeof(steps[0]));
    }
}

static bool set_table(ember_pick_t *pick, const ember_pick_args_t *args,
                      const ember_view_t *picked, uint32_t rank) {
    const uint32_t width = args->count + 2;
    const uint32_t place = index_place(args);
    int32_t rows[EMBER_MAX_RANK * (EMBER_WALK_OPERANDS + 1)];
    int32_t steps[EMBER_MAX_RANK] = {0};

    for (uint32_t d = 0; d < rank; d++) {
        rows[d * width] = picked->sizes[place + d];
        rows[d * width + 1] = picked->strides[place + d];
    }
    for (uint32_t k = 0; k < args->count; k++) {
        index_steps(&args->tensors[k], rank, picked->sizes + place, steps);
        for (uint32_t d = 0; d < rank; d++) {
            rows[d * width + 2 + k] = steps[d];
        }
    }
    const uint32_t dims = ember_walk_join(rows, rank, args->count + 1);
    if (dims > EMBER_WALK_DIMS) {
        return false;
    }
    memcpy(pick->table, rows, dims * width * sizeof(rows[0]));
    pick->dims = (uint8_t)dims;
    return true;
}

ember_status_t ember_pick_prepare(ember_pick_t *pick, ember_node_t *node,
                                  const ember_pick_args_t *args,
                                  const ember_view_t *whole,
                                  const ember_view_t *picked) {
    const uint32_t rank = picked->rank + args->count - whole->rank;

    pick->count = (uint8_t)args->count;
    pick->dtype = whole->dtype;
    pick->whole = whole->data;
    pick->picked = picked->data;
    pick->dims = 0;
    if (whole->dtype != picked->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index: dtypes differ");
    }
    ember_node_work(node, (uint32_t)ember_view_numel(picked),
                    1); // which may be broadcast
    const ember_status_t status = set_block(pick, node, args, whole, picked, rank);
    if (status != EMBER_OK || ember_view_numel(picked) == 0) {
        return status;
    }
    if (!set_table(pick, args, picked, rank)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index: too many dimensions");
    }
    return EMBER_OK;
}

ember_status_t ember_pick_read(ember_pick_t *pick, ember_node_t *node,
                               const ember_pick_args_t *args, uint32_t whole,
                               uint32_t out) {
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t tensor;
    ember_view_t from, to;

    ember_view_arg(&from, node, whole);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const uint32_t rank = ember_pick_shape(args, node, &from, sizes);
    ember_node_output(node, out, rank, sizes, &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&to, &tensor);
    pick->write = false;
    pick->add = false;
    return ember_pick_prepare(pick, node, args, &from, &to);
}
