// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/axis.h"

void ember_axis_split(const ember_tensor_t *tensor, uint32_t dim, uint32_t *outer,
                      uint32_t *count, uint32_t *inner) {
    bool after = false;
    *outer = 1;
    *count = 1;
    *inner = 1;
    for (uint32_t i = 0; i < tensor->rank && tensor->numel > 0; i++) {
        const uint32_t d = tensor->dim_order[i];
        const uint32_t size = (uint32_t)tensor->sizes[d];
        if (d == dim) {
            *count = size;
            after = true;
        } else if (after) {
            *inner *= size;
        } else {
            *outer *= size;
        }
    }
    if (tensor->numel == 0) {
        *outer = 0;
        *inner = 0;
    }
}

ember_status_t ember_axis_prepare(ember_node_t *node, ember_axis_t *axis, uint32_t dim,
                                  uint32_t out) {
    ember_tensor_t x;
    ember_tensor_t y;
    ember_node_tensor(node, 0, &x);
    ember_node_output_like(node, out, &x, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!ember_tensor_same_layout(&x, &y)) {
        return EMBER_UNSUPPORTED;
    }
    *axis = (ember_axis_t){.x = x.data,
                           .y = y.data,
                           .x_dtype = x.dtype,
                           .y_dtype = y.dtype,
                           .x_size = x.element_size,
                           .y_size = y.element_size};
    ember_axis_split(&x, dim, &axis->outer, &axis->count, &axis->inner);
    return EMBER_OK;
}

ember_status_t ember_axis_prepare_f32(ember_node_t *node, ember_axis_t *axis,
                                      uint32_t dim, uint32_t out) {
    const ember_status_t status = ember_axis_prepare(node, axis, dim, out);
    if (status != EMBER_OK) {
        return status;
    }
    return axis->x_dtype == EMBER_F32 && axis->y_dtype == EMBER_F32 ? EMBER_OK
                                                                    : EMBER_UNSUPPORTED;
}
