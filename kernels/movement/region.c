// SPDX-License-Identifier: Apache-2.0
#include "kernels/movement/region.h"

enum { SELF, SRC, DIM };

ember_status_t ember_region_prepare(ember_node_t *node, ember_region_t *s,
                                    uint32_t out_arg,
                                    void (*narrow)(ember_view_t *view,
                                                   ember_node_t *node, uint32_t arg)) {
    ember_tensor_t tensor;
    ember_view_t self, src, out;

    ember_view_arg(&self, node, SELF);
    const ember_status_t status = ember_copy_output(&s->whole, node, out_arg, &self);
    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, out_arg, &tensor);
    ember_view_tensor(&out, &tensor);
    ember_view_arg(&src, node, SRC);
    narrow(&out, node, DIM);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (src.dtype != out.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "select_scatter, slice_scatter: dtypes differ");
    }
    return ember_copy_prepare(&s->region, node, &out, &src);
}

void ember_region_run(const ember_region_t *s) {
    ember_copy_run(&s->whole);
    ember_copy_run(&s->region);
}
