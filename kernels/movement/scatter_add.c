// SPDX-License-Identifier: Apache-2.0
// scatter_add, and scatter with a reduction: a copy of self with elements of src added
// to, or multiplied with, those at indices along a dimension.
#include "kernels/engine/along.h"
#include "kernels/engine/copy.h"

enum { SELF, DIM, INDEX, SRC };

typedef struct {
    ember_copy_t copy;
    ember_along_t along;
} state_t;

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t tensor;
    ember_view_t self, index, src, out;
    uint32_t to;

    ember_view_arg(&self, node, SELF);
    ember_view_arg(&index, node, INDEX);
    ember_view_arg(&src, node, SRC);
    const uint32_t dim = ember_node_dim(node, DIM, self.rank);
    const ember_along_mode_t mode =
        ember_along_scatter_mode(node, EMBER_ALONG_ADD, &to);
    const ember_status_t status = ember_copy_output(&s->copy, node, to, &self);
    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, to, &tensor);
    ember_view_tensor(&out, &tensor);
    return ember_along_prepare(&s->along, node, &index, &out, &src, dim, mode);
}

static int32_t run(void *state) {
    const state_t *s = state;

    ember_copy_run(&s->copy);
    return ember_along_run(&s->along);
}

EMBER_KERNEL(scatter_add, state_t);
