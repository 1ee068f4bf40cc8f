// SPDX-License-Identifier: Apache-2.0
// squeeze_copy_dims: removes the listed dimensions whose size is 1.
#include "kernels/engine/copy.h"
#include "kernels/engine/view_args.h"

enum { SELF, DIMS, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    const uint32_t listed = ember_listed_dims(node, DIMS, view.rank);
    for (uint32_t d = view.rank; d-- > 0;) {
        if ((listed >> d & 1u) != 0 && view.sizes[d] == 1) {
            ember_view_drop(&view, d);
        }
    }
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(squeeze_copy_dims, ember_copy_t);
