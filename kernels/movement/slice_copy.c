// SPDX-License-Identifier: Apache-2.0
// slice_copy: every step-th element of a range of one dimension.
#include "kernels/engine/copy.h"
#include "kernels/engine/view_args.h"

enum { SELF, DIM, START, END, STEP, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    ember_view_slice_args(&view, node, DIM);
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(slice_copy, ember_copy_t);
