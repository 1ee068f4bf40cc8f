// SPDX-License-Identifier: Apache-2.0
// flip: listed dimensions reversed.
#include "kernels/engine/copy.h"
#include "kernels/engine/view_args.h"

enum { SELF, DIMS, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    const uint32_t listed = ember_listed_dims(node, DIMS, view.rank);
    for (uint32_t d = 0; d < view.rank; d++) {
        if ((listed >> d & 1u) != 0) {
            ember_view_flip(&view, d);
        }
    }
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(flip, ember_copy_t);
