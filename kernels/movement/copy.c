// SPDX-License-Identifier: Apache-2.0
// copy: src, broadcast to the shape of self.
#include "kernels/engine/copy.h"
#include "kernels/engine/promote.h"

enum { SELF, SRC, NON_BLOCKING, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self;
    ember_view_t src;

    ember_node_tensor(node, SELF, &self);
    ember_view_arg(&src, node, SRC);
    if (!ember_view_expand(&src, self.rank, self.sizes)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "copy: shapes do not broadcast");
    }
    ember_output_check(node, self.dtype);
    return ember_copy_output(state, node, OUT, &src);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(copy, ember_copy_t);
