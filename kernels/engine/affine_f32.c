// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/affine_f32.h"

static float factor_of(const ember_affine_f32_t *affine, double scale) {
    return (float)(affine->inverse ? 1.0 / scale : scale);
}

// False for tensors that are not one float, one integer.
static bool read_scale(ember_affine_f32_t *affine, ember_node_t *node) {
    ember_tensor_t tensor;
    affine->scale = NULL;
    if (ember_node_kind(node, 1) != EMBER_TENSOR) {
        affine->factor = factor_of(affine, ember_node_double(node, 1));
        return true;
    }
    ember_node_tensor(node, 1, &tensor);
    affine->scale = tensor.data;
    affine->scale_dtype = tensor.dtype;
    return tensor.numel == 1 &&
           (tensor.dtype == EMBER_F32 || tensor.dtype == EMBER_F64);
}

static bool read_zero_point(ember_affine_f32_t *affine, ember_node_t *node) {
    ember_tensor_t tensor;
    affine->zero = NULL;
    if (ember_node_kind(node, 2) != EMBER_TENSOR) {
        affine->zero_point = (float)ember_node_int_or(node, 2, 0);
        return true;
    }
    ember_node_tensor(node, 2, &tensor);
    affine->zero = tensor.data;
    affine->zero_dtype = tensor.dtype;
    return tensor.numel == 1 && !ember_is_real(tensor.dtype);
}

ember_status_t ember_affine_f32_prepare(ember_affine_f32_t *affine, ember_node_t *node,
                                        bool quantize) {
    ember_tensor_t x;
    ember_tensor_t y;

    affine->inverse = quantize;
    ember_node_tensor(node, 0, &x);
    const bool simple = read_scale(affine, node) && read_zero_point(affine, node);
    const ember_tensor_t *real = quantize ? &x : &y;
    const ember_tensor_t *integers = quantize ? &y : &x;
    // some are told the dtype of the result, first
    const bool told = ember_node_kind(node, 6) != EMBER_TENSOR;
    ember_node_output_like(node, told ? 7 : 6, &x, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    affine->x = x.data;
    affine->y = y.data;
    affine->count = x.numel;
    affine->integers = integers->dtype;
    const bool bytes = integers->dtype == EMBER_S8 || integers->dtype == EMBER_U8;
    return simple && bytes && real->dtype == EMBER_F32 &&
                   ember_tensor_same_layout(&x, &y) &&
                   ember_node_int(node, 5) == integers->dtype
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

void ember_affine_f32_read(const ember_affine_f32_t *affine, float *factor,
                           float *zero_point) {
    ember_number_t number;
    *factor = affine->factor;
    *zero_point = affine->zero_point;
    if (affine->scale != NULL) {
        ember_elements_load(EMBER_CLASS_F64, &number, affine->scale_dtype,
                            affine->scale, 0, 1);
        *factor = factor_of(affine, number.f64);
    }
    if (affine->zero != NULL) {
        ember_elements_load(EMBER_CLASS_F32, &number, affine->zero_dtype, affine->zero,
                            0, 1);
        *zero_point = number.f32;
    }
}
