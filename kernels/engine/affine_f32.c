// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/affine_f32.h"

#include <string.h>

enum { EXACT = 1 << 24 }; // float32 holds all integers up to here

#define FACTOR_MIN 0x1p-126f // a normal number
#define FACTOR_MAX 0x1p120f  // denormals times this round to 0

// Without conversions between 64-bit integers and floats: on cores without an
// instruction for them, the library's functions are larger than the kernels.
static float float_of(int64_t number) {
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    float unit = number < 0 ? -1.0f : 1.0f;
    while (size > UINT32_MAX) { // the lowest bit stands for all below it
        size = size >> 1 | (size & 1);
        unit *= 2.0f;
    }
    return (float)(uint32_t)size * unit;
}

static float factor_of(const ember_affine_f32_t *affine, double scale) {
    return (float)(affine->inverse ? 1.0 / scale : scale);
}

// factor_of() for that number: rounding the quotient twice gives the same.
static float factor_of_float(const ember_affine_f32_t *affine, float scale) {
    return affine->inverse ? 1.0f / scale : scale;
}

static bool read_scale_number(ember_affine_f32_t *affine, ember_node_t *node) {
    const ember_value_t scale = ember_node_scalar(node, 1);
    if (scale.kind == EMBER_DOUBLE) {
        affine->factor = factor_of(affine, scale.as_double);
        return true;
    }
    const int64_t number = scale.as_int;
    affine->factor = factor_of_float(affine, float_of(number));
    return number >= -EXACT && number <= EXACT;
}

// False for tensors other than one float, one integer.
static bool read_scale(ember_affine_f32_t *affine, ember_node_t *node) {
    ember_tensor_t tensor;
    affine->scale = NULL;
    if (ember_node_kind(node, 1) != EMBER_TENSOR) {
        return read_scale_number(affine, node);
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
        affine->zero_point = float_of(ember_node_int_or(node, 2, 0));
        return true;
    }
    ember_node_tensor(node, 2, &tensor);
    affine->zero = tensor.data;
    affine->zero_dtype = tensor.dtype;
    return tensor.numel == 1 &&
           (tensor.dtype == EMBER_S8 || tensor.dtype == EMBER_U8 ||
            tensor.dtype == EMBER_S32 || tensor.dtype == EMBER_S64);
}

static ember_status_t read(ember_affine_f32_t *affine, ember_node_t *node,
                           bool quantize) {
    ember_tensor_t x;
    ember_tensor_t y;

    affine->inverse = quantize;
    ember_node_tensor(node, 0, &x);
    const bool simple = read_scale(affine, node) && read_zero_point(affine, node);
    const ember_tensor_t *real = quantize ? &x : &y;
    const ember_tensor_t *integers = quantize ? &y : &x;
    // some get the dtype of the result first
    const bool told = ember_node_kind(node, 6) != EMBER_TENSOR;
    ember_node_output_like(node, told ? 7 : 6, &x, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    affine->x = x.data;
    affine->y = y.data;
    affine->count = x.numel;
    affine->integers = integers->dtype;
    return simple && real->dtype == EMBER_F32 && ember_tensor_same_layout(&x, &y) &&
                   ember_node_int(node, 5) == integers->dtype
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

ember_status_t ember_affine_f32_prepare(ember_affine_f32_t *affine, ember_node_t *node,
                                        bool quantize) {
    const ember_status_t status = read(affine, node, quantize);
    const bool bytes = affine->integers == EMBER_S8 || affine->integers == EMBER_U8;

    return status != EMBER_OK || bytes ? status : EMBER_UNSUPPORTED;
}

ember_status_t ember_affine_f32_s16_prepare(ember_affine_f32_t *affine,
                                            ember_node_t *node, bool quantize) {
    const ember_status_t status = read(affine, node, quantize);
    const bool constant = affine->scale == NULL && affine->zero == NULL;

    if (status != EMBER_OK) {
        return status;
    }
    return affine->integers == EMBER_S16 && constant && affine->zero_point == 0.0f &&
                   affine->factor >= FACTOR_MIN && affine->factor <= FACTOR_MAX
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static float scale_in(const ember_affine_f32_t *affine) {
    float single;
    double number;
    if (affine->scale_dtype == EMBER_F32) {
        memcpy(&single, affine->scale, sizeof(single));
        return factor_of_float(affine, single);
    }
    memcpy(&number, affine->scale, sizeof(number));
    return factor_of(affine, number);
}

static float zero_point_in(const ember_affine_f32_t *affine) {
    int64_t number;
    int32_t word;
    switch (affine->zero_dtype) {
    case EMBER_S8:
        return (float)*(const int8_t *)affine->zero;
    case EMBER_U8:
        return (float)*(const uint8_t *)affine->zero;
    case EMBER_S32:
        memcpy(&word, affine->zero, sizeof(word));
        return (float)word;
    default:
        memcpy(&number, affine->zero, sizeof(number));
        return float_of(number);
    }
}

void ember_affine_f32_read(const ember_affine_f32_t *affine, float *factor,
                           float *zero_point) {
    *factor = affine->scale != NULL ? scale_in(affine) : affine->factor;
    *zero_point = affine->zero != NULL ? zero_point_in(affine) : affine->zero_point;
}
