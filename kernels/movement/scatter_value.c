// SPDX-License-Identifier: Apache-2.0
// scatter_value: a copy of self with one value written at indices along a dimension,
// or added to or multiplied with what is there.
#include "kernels/engine/along.h"
#include "kernels/engine/copy.h"
#include "kernels/engine/fill.h"

#include <string.h>

enum { SELF, DIM, INDEX, VALUE };

typedef struct {
    ember_copy_t copy;
    ember_along_t along;
    ember_fill_t value; // for its element
} state_t;

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t tensor;
    ember_view_t self, index, src, out;
    uint32_t to;

    ember_view_arg(&self, node, SELF);
    ember_view_arg(&index, node, INDEX);
    const uint32_t dim = ember_node_dim(node, DIM, self.rank);
    const ember_along_mode_t mode =
        ember_along_scatter_mode(node, EMBER_ALONG_SCATTER, &to);
    ember_status_t status = ember_copy_output(&s->copy, node, to, &self);
    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, to, &tensor);
    status =
        ember_fill_prepare(node, &s->value, &tensor, ember_node_scalar(node, VALUE));
    if (status != EMBER_OK) {
        return status;
    }
    ember_view_tensor(&out, &tensor);
    src = index; // for the shape; every element is the value
    src.data = NULL;
    src.dtype = self.dtype;
    src.element_size = self.element_size;
    memset(src.strides, 0, sizeof(src.strides));
    return ember_along_prepare(&s->along, node, &index, &out, &src, dim, mode);
}

static int32_t run(void *state) {
    state_t *s = state;

    s->along.other = (char *)s->value.number; // not earlier: states may move
    ember_copy_run(&s->copy);
    return ember_along_run(&s->along);
}

EMBER_KERNEL(scatter_value, state_t);
