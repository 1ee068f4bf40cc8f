// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantized/mixed.h"

#include "kernels/engine/element.h"

enum { X, WEIGHT, SCALES, ZEROS };

static bool is_dense_matrix(const ember_tensor_t *tensor) {
    return tensor->rank == 2 && ember_tensor_is_contiguous(tensor);
}

// Scales of the rows of W; false if they do not fit.
static bool read_groups(ember_mixed_t *s, const ember_tensor_t *weight,
                        const ember_tensor_t *scales) {
    const uint32_t width = (uint32_t)weight->sizes[1];
    if (scales->rank < 1 || scales->rank > 2 || scales->sizes[0] != weight->sizes[0]) {
        return false;
    }
    s->groups = scales->rank == 2 ? (uint32_t)scales->sizes[1] : 1;
    if (s->groups == 0) {
        return false;
    }
    s->group = width / s->groups + (width % s->groups != 0);
    s->group = s->group == 0 ? 1 : s->group;
    return true;
}

ember_status_t ember_mixed_prepare(ember_mixed_t *s, ember_node_t *node, bool linear,
                                   uint32_t out) {
    ember_tensor_t x;
    ember_tensor_t weight;
    ember_tensor_t scales;
    ember_tensor_t zeros;
    ember_tensor_t y;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, WEIGHT, &weight);
    ember_node_tensor(node, SCALES, &scales);
    const bool has_zeros = ember_node_optional_tensor(node, ZEROS, &zeros);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.rank != 2 || weight.rank != 2 || x.sizes[1] != weight.sizes[linear ? 1 : 0] ||
        !read_groups(s, &weight, &scales) ||
        (has_zeros && zeros.numel != scales.numel)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "mixed: shapes do not fit");
    }
    const int32_t sizes[] = {x.sizes[0], weight.sizes[linear ? 0 : 1]};
    ember_node_output(node, out, 2, sizes, &y);
    s->x = x.data;
    s->weight = weight.data;
    s->scales = scales.data;
    s->zeros = zeros.data;
    s->y = y.data;
    s->rows = (uint32_t)sizes[0];
    s->inner = (uint32_t)x.sizes[1];
    s->columns = (uint32_t)sizes[1];
    s->x_dtype = x.dtype;
    s->y_dtype = y.dtype;
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_node_work(node, y.numel, s->inner + EMBER_STEPS_RESULT);
    const bool dense = is_dense_matrix(&x) && is_dense_matrix(&weight) &&
                       is_dense_matrix(&y) && ember_tensor_is_contiguous(&scales) &&
                       (!has_zeros || ember_tensor_is_contiguous(&zeros));
    const bool dtypes = weight.dtype == EMBER_S8 && scales.dtype == x.dtype &&
                        (!has_zeros || zeros.dtype == x.dtype);
    return dense && dtypes && ember_class_of(x.dtype) == EMBER_CLASS_F32 &&
                   ember_class_of(y.dtype) != EMBER_CLASS_S64
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

const float *ember_mixed_floats(const ember_mixed_t *s, const char *from,
                                uint32_t first, uint32_t count, float *buffer) {
    const uint32_t size = ember_dtype_size(s->x_dtype);
    const char *at = from + (size_t)first * size;
    if (s->x_dtype == EMBER_F32) {
        return (const float *)(const void *)at;
    }
    ember_elements_load(EMBER_CLASS_F32, buffer, s->x_dtype, at, (int32_t)size, count);
    return buffer;
}

void ember_mixed_store(const ember_mixed_t *s, uint32_t first, uint32_t count,
                       float *numbers) {
    const uint32_t size = ember_dtype_size(s->y_dtype);
    ember_elements_store(EMBER_CLASS_F32, numbers, s->y_dtype,
                         s->y + (size_t)first * size, (int32_t)size, count);
}
