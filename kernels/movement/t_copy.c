// SPDX-License-Identifier: Apache-2.0
// t_copy: a matrix transposed; vectors and scalars as they are.
#include "kernels/engine/copy.h"

enum { SELF, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    if (view.rank > 2) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "t: rank above 2");
    }
    if (view.rank == 2) {
        ember_view_swap(&view, 0, 1);
    }
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(t_copy, ember_copy_t);
