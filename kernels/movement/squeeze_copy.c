// SPDX-License-Identifier: Apache-2.0
// squeeze_copy: all dimensions of size 1 removed.
#include "kernels/engine/copy.h"

enum { SELF, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    for (uint32_t d = view.rank; d-- > 0;) {
        if (view.sizes[d] == 1) {
            ember_view_drop(&view, d);
        }
    }
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(squeeze_copy, ember_copy_t);
