// SPDX-License-Identifier: Apache-2.0
#include "kernels/movement/scatter.h"

enum { SELF, DIM, INDEX, SRC };

ember_status_t ember_scatter_prepare(ember_node_t *node, ember_scatter_t *s,
                                     ember_along_mode_t usual) {
    ember_tensor_t tensor;
    ember_view_t self, index, src, out;
    uint32_t to;

    ember_view_arg(&self, node, SELF);
    ember_view_arg(&index, node, INDEX);
    ember_view_arg(&src, node, SRC);
    const uint32_t dim = ember_node_dim(node, DIM, self.rank);
    const ember_along_mode_t mode = ember_along_scatter_mode(node, usual, &to);
    const ember_status_t status = ember_copy_output(&s->copy, node, to, &self);
    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, to, &tensor);
    ember_view_tensor(&out, &tensor);
    return ember_along_prepare(&s->along, node, &index, &out, &src, dim, mode);
}

int32_t ember_scatter_run(const ember_scatter_t *s) {
    ember_copy_run(&s->copy);
    return ember_along_run(&s->along);
}
