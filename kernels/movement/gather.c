// SPDX-License-Identifier: Apache-2.0
// gather: elements of self picked along a dimension, one index each.
#include "kernels/engine/along.h"

enum { SELF, DIM, INDEX, SPARSE, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t tensor;
    ember_view_t self, index, out;

    ember_view_arg(&self, node, SELF);
    ember_view_arg(&index, node, INDEX);
    const uint32_t dim = ember_node_dim(node, DIM, self.rank);
    ember_node_output(node, OUT, index.rank, index.sizes, &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&out, &tensor);
    return ember_along_prepare(state, node, &index, &self, &out, dim,
                               EMBER_ALONG_GATHER);
}

static int32_t run(void *state) {
    return ember_along_run(state);
}

EMBER_KERNEL(gather, ember_along_t);
