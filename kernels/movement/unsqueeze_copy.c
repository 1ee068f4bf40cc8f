// SPDX-License-Identifier: Apache-2.0
// unsqueeze_copy: a dimension of size 1 inserted.
#include "kernels/engine/copy.h"

enum { SELF, DIM, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    const uint32_t dim = ember_node_dim(node, DIM, view.rank + 1u);
    ember_view_insert(&view, dim, 1, 0);
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(unsqueeze_copy, ember_copy_t);
