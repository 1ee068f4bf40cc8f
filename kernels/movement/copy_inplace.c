// SPDX-License-Identifier: Apache-2.0
// copy_: src, broadcast, written to self.
#include "kernels/engine/copy.h"

enum { SELF, SRC };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self;
    ember_view_t dst, src;

    ember_node_inout(node, SELF, &self);
    ember_view_arg(&src, node, SRC);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!ember_view_expand(&src, self.rank, self.sizes)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "copy_: shapes do not broadcast");
    }
    if (self.dtype != src.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "copy_: dtypes differ");
    }
    ember_view_tensor(&dst, &self);
    return ember_copy_prepare(state, node, &dst, &src);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(copy_inplace, ember_copy_t);
