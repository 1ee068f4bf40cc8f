// SPDX-License-Identifier: Apache-2.0
// squeeze_copy_dim: one dimension of size 1 removed; nothing when it is larger.
#include "kernels/engine/copy.h"

enum { SELF, DIM, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    const uint32_t dim = ember_node_dim(node, DIM, view.rank);
    if (view.rank > 0 && view.sizes[dim] == 1) {
        ember_view_drop(&view, dim);
    }
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(squeeze_copy_dim, ember_copy_t);
