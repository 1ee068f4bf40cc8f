// SPDX-License-Identifier: Apache-2.0
// copy_ with a change of dtype.
#include "kernels/engine/convert.h"

enum { SELF, SRC };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self, src;

    ember_node_inout(node, SELF, &self);
    ember_node_tensor(node, SRC, &src);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return ember_convert_prepare(state, node, &self, &src);
}

static int32_t run(void *state) {
    ember_convert_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(copy_inplace_convert, ember_convert_t);
