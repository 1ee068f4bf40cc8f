// SPDX-License-Identifier: Apache-2.0
// What the kernels of avg_pool2d share. Contract: avg.h.
#include "kernels/pooling/avg.h"

enum { X, KERNEL, STRIDE, PADDING, CEIL, COUNT_PADDING, DIVISOR, OUT };

ember_status_t ember_avg_prepare(ember_avg_pool_t *avg, ember_node_t *node) {
    const ember_pool_args_t args = {.kernel = KERNEL,
                                    .stride = STRIDE,
                                    .padding = PADDING,
                                    .ceil_mode = CEIL,
                                    .out = OUT};

    avg->count_padding = ember_node_bool(node, COUNT_PADDING);
    avg->divisor = 0;
    if (ember_node_kind(node, DIVISOR) != EMBER_NONE) {
        avg->divisor = ember_node_int_in(node, DIVISOR, -INT32_MAX, INT32_MAX);
        if (avg->divisor == 0) {
            return ember_node_fail(node, EMBER_BAD_PROGRAM, "avg_pool2d: divisor 0");
        }
    }
    return ember_pool_prepare(&avg->pool, node, &args);
}

ember_pool_range_t ember_avg_range(const ember_pool_t *pool, uint32_t d, int32_t out) {
    const int32_t start = out * pool->stride[d] - pool->padding[d];
    const int32_t limit = pool->in[d] + pool->padding[d];
    const int32_t end =
        pool->kernel[d] < limit - start ? start + pool->kernel[d] : limit;

    return (ember_pool_range_t){
        .first = start < 0 ? 0 : start,
        .past = end < pool->in[d] ? end : pool->in[d],
        .padded = end - start,
    };
}

int64_t ember_avg_divisor(const ember_avg_pool_t *avg, ember_pool_range_t rows,
                          ember_pool_range_t columns) {
    if (avg->divisor != 0) {
        return avg->divisor;
    }
    if (avg->count_padding) {
        return (int64_t)rows.padded * columns.padded;
    }
    return (int64_t)(rows.past - rows.first) * (columns.past - columns.first);
}
