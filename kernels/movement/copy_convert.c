// SPDX-License-Identifier: Apache-2.0
// copy_convert: src, broadcast to the shape of self, in the dtype of self.
#include "kernels/engine/convert.h"

enum { SELF, SRC, NON_BLOCKING, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self, src, out;

    ember_node_tensor(node, SELF, &self);
    ember_node_tensor(node, SRC, &src);
    ember_node_output_like(node, OUT, &self, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.dtype != self.dtype) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "copy: the output's dtype differs from self's");
    }
    return ember_convert_prepare(state, node, &out, &src);
}

static int32_t run(void *state) {
    ember_convert_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(copy_convert, ember_convert_t);
