// SPDX-License-Identifier: Apache-2.0
// What the kernels of avg_pool_sums share. Contract: avg_pool_rows_s8.h.
#include "kernels/cortex_m/avg_pool_rows_s8.h"
#include "kernels/cortex_m/quantized_avg_pool2d.h"

enum { X, KERNEL, STRIDE, PADDING, ZERO, SUMS = 8 };
enum { COLUMNS = 3 }; // the dimension

bool ember_avg_pool_is_row(const ember_tensor_t *image) {
    int32_t strides[EMBER_MAX_RANK];

    if (image->rank != 4 || image->sizes[0] != 1 || image->sizes[2] != 1) {
        return false;
    }
    ember_tensor_strides(image, strides);
    return (strides[1] == 1 || image->sizes[1] == 1) &&
           (strides[COLUMNS] == image->sizes[1] || image->sizes[COLUMNS] == 1);
}

static bool fit(const ember_tensor_t *x, const ember_tensor_t *sums, int32_t windows) {
    return ember_avg_pool_is_row(x) && ember_avg_pool_is_row(sums) &&
           sums->sizes[1] == x->sizes[1] && sums->sizes[COLUMNS] == windows;
}

ember_status_t ember_avg_pool_sums_s8_prepare(ember_node_t *node,
                                              ember_avg_pool_rows_s8_t *s) {
    ember_tensor_t x, sums;
    int32_t kernel[2], stride[2], padding[2];

    ember_node_tensor(node, X, &x);
    ember_node_inout(node, SUMS, &sums);
    ember_pool_s8_pair(node, KERNEL, 1, kernel);
    ember_pool_s8_pair(node, STRIDE, 1, stride);
    ember_pool_s8_pair(node, PADDING, 0, padding);
    s->scale = ember_avg_pool_s8_scale(node, ZERO, &s->zero);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const int32_t room = x.rank == 4 ? x.sizes[COLUMNS] - kernel[1] : -1;
    const int32_t windows = room < 0 ? 0 : room / stride[1] + 1;
    if (windows == 0 || padding[0] != 0 || padding[1] != 0 || x.dtype != EMBER_S8 ||
        sums.dtype != EMBER_F32 || !fit(&x, &sums, windows)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "avg_pool_sums: no row of int8 and its sums");
    }
    ember_node_work(node, sums.numel, (uint32_t)kernel[1]);
    s->x = x.data;
    s->sums = sums.data;
    s->channels = x.sizes[1];
    s->windows = windows;
    s->columns = kernel[1];
    s->step = windows > 1 ? stride[1] * x.sizes[1] : 0;
    return EMBER_OK;
}
