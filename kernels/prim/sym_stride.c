// SPDX-License-Identifier: Apache-2.0
// A stride of a tensor, in elements.
#include "kernels/engine/prim.h"

static int32_t run(void *state) {
    return ember_prim_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_prim_t *s = state;
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    const uint32_t dim = ember_node_dim(node, 1, x.rank);
    s->slot = ember_node_slot(node, 2);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (dim >= x.rank) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "sym_stride: no such dimension");
    }
    int32_t strides[EMBER_MAX_RANK];
    ember_tensor_strides(&x, strides);
    ember_prim_set_int(s, strides[dim]);
    return EMBER_OK;
}

EMBER_KERNEL(sym_stride, ember_prim_t);
