// SPDX-License-Identifier: Apache-2.0
// clone: a copy of the same shape and dtype, in the dim order of the output. Also
// serves detach_copy, alias_copy, lift_fresh_copy and the dim-order clones.
#include "kernels/engine/copy.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    const uint32_t out = ember_node_arg_count(node) - 2; // before the return value
    ember_view_t view;

    ember_view_arg(&view, node, 0);
    return ember_copy_output(state, node, out, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(clone, ember_copy_t);
