// SPDX-License-Identifier: Apache-2.0
// select_copy: one index of a dimension, which goes away.
#include "kernels/engine/copy.h"
#include "kernels/engine/view_args.h"

enum { SELF, DIM, INDEX, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    ember_view_select_args(&view, node, DIM);
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(select_copy, ember_copy_t);
