// SPDX-License-Identifier: Apache-2.0
// What the kernels of max_pool2d_with_indices share. Contract: max.h.
#include "kernels/pooling/max.h"

enum { X, KERNEL, STRIDE, PADDING, DILATION, CEIL, OUT, INDICES };

ember_status_t ember_max_prepare(ember_max_pool_t *max, ember_node_t *node) {
    const ember_pool_args_t args = {.kernel = KERNEL,
                                    .stride = STRIDE,
                                    .padding = PADDING,
                                    .dilation = DILATION,
                                    .ceil_mode = CEIL,
                                    .out = OUT};
    ember_tensor_t out, indices;
    const ember_status_t status = ember_pool_prepare(&max->pool, node, &args);

    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, OUT, &out);
    ember_node_output_like(node, INDICES, &out, &indices);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (indices.dtype != EMBER_S64 || !ember_tensor_same_layout(&out, &indices)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "max_pool2d: layout of indices");
    }
    max->indices = indices.data;
    return EMBER_OK;
}

ember_max_range_t ember_max_range(const ember_pool_t *pool, uint32_t d, int32_t out) {
    const int32_t dilation = pool->dilation[d];
    const int32_t start = out * pool->stride[d] - pool->padding[d];
    const int32_t end = start + (pool->kernel[d] - 1) * dilation + 1;

    return (ember_max_range_t){
        // The first tap that is not before the image.
        .first =
            start < 0 ? start + (-start + dilation - 1) / dilation * dilation : start,
        .past = end < pool->in[d] ? end : pool->in[d],
    };
}

void ember_max_store(const ember_max_pool_t *max, const char *y, int32_t index) {
    const ptrdiff_t at =
        (y - max->pool.y) / (ptrdiff_t)ember_dtype_size(max->pool.dtype);

    *(int64_t *)(void *)(max->indices + at * (ptrdiff_t)sizeof(int64_t)) = index;
}
