// SPDX-License-Identifier: Apache-2.0
// expand_copy: dimensions of size 1 repeated; a size of -1 keeps a dimension.
#include "kernels/engine/copy.h"

enum { SELF, SIZE, IMPLICIT, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    int32_t sizes[EMBER_MAX_RANK];
    ember_view_t view;

    ember_view_arg(&view, node, SELF);
    const uint32_t rank = ember_node_ints(node, SIZE, sizes, EMBER_MAX_RANK);
    for (uint32_t back = 1; back <= view.rank && back <= rank; back++) {
        if (sizes[rank - back] == -1) {
            sizes[rank - back] = view.sizes[view.rank - back];
        }
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (sizes[d] < 0) {
            return ember_node_fail(node, EMBER_BAD_PROGRAM, "expand: negative size");
        }
    }
    if (!ember_view_expand(&view, rank, sizes)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "expand: shapes do not fit");
    }
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(expand_copy, ember_copy_t);
