// SPDX-License-Identifier: Apache-2.0
// transpose_copy: two dimensions exchanged.
#include "kernels/engine/copy.h"

enum { SELF, DIM0, DIM1, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    const uint32_t a = ember_node_dim(node, DIM0, view.rank);
    const uint32_t b = ember_node_dim(node, DIM1, view.rank);
    if (view.rank > 0) {
        ember_view_swap(&view, a, b);
    }
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(transpose_copy, ember_copy_t);
