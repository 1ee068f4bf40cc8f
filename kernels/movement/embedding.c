// SPDX-License-Identifier: Apache-2.0
// embedding: rows of `weight` picked by a tensor of indices.
#include "kernels/engine/index.h"
#include "kernels/engine/pick.h"

enum { WEIGHT, INDICES, PADDING, SCALE_GRADIENT, SPARSE, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_pick_t *pick = state;
    ember_pick_args_t args = {.dims = {0}, .count = 1};

    ember_node_tensor(node, INDICES, &args.tensors[0]);
    if (!ember_is_index_dtype(args.tensors[0].dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "embedding: wrong dtype of indices");
    }
    pick->wrap = false;
    return ember_pick_read(pick, node, &args, WEIGHT, OUT);
}

static int32_t run(void *state) {
    return ember_pick_run(state);
}

EMBER_KERNEL(embedding, ember_pick_t);
