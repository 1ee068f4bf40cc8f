// SPDX-License-Identifier: Apache-2.0
// view_copy: the same elements in logical order under another shape.
#include "kernels/engine/copy.h"
#include "kernels/engine/view_args.h"

enum { SELF, SIZE, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self;
    int32_t sizes[EMBER_MAX_RANK];

    ember_node_tensor(node, SELF, &self);
    const uint32_t rank = ember_shape_args(node, SIZE, self.numel, sizes);
    return ember_copy_reshaped(state, node, OUT, &self, rank, sizes);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(view_copy, ember_copy_t);
