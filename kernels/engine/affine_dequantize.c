// SPDX-License-Identifier: Apache-2.0
// From small integers to real numbers. Contract: affine.h.
#include "kernels/engine/affine.h"

// Which zero points are subtracted in integers: all except float ones, and those of a
// whole tensor, which PyTorch treats as numbers.
static bool in_integers(const ember_affine_t *affine) {
    return affine->difference == EMBER_S32 || affine->difference == EMBER_S64;
}

static void begin(const ember_affine_t *affine, ember_affine_block_t *block,
                  uint32_t count) {
    const ember_class_t class = (ember_class_t)affine->class;
    ember_numbers_convert(&block->scale, EMBER_CLASS_F64, class, count);
    if (in_integers(affine)) {
        return;
    }
    ember_numbers_convert(
        &block->zero, ember_class_of(affine->dtypes[EMBER_AFFINE_ZERO]), class, count);
    if (class == EMBER_CLASS_F32) {
        ember_round_to(affine->difference, block->zero.f32, count);
    }
}

// x - zero point in integers, then as a number of the class.
static void subtract_integers(const ember_affine_t *affine, ember_affine_block_t *block,
                              uint32_t count) {
    int64_t *x = block->x.s64;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t zero = (uint64_t)block->zero.s64[i * block->step];
        x[i] = ember_integer_wrap(affine->difference, (int64_t)((uint64_t)x[i] - zero));
    }
    ember_numbers_convert(x, EMBER_CLASS_S64, (ember_class_t)affine->class, count);
}

static void subtract_f32(const ember_affine_t *affine, ember_affine_block_t *block,
                         uint32_t count) {
    float *x = block->x.f32;
    ember_numbers_convert(x, EMBER_CLASS_S64, EMBER_CLASS_F32, count);
    ember_round_to(affine->difference, x, count);
    for (uint32_t i = 0; i < count; i++) {
        x[i] -= block->zero.f32[i * block->step];
    }
    ember_round_to(affine->difference, x, count);
}

static void compute_f32(const ember_affine_t *affine, ember_affine_block_t *block,
                        uint32_t count) {
    if (in_integers(affine)) {
        subtract_integers(affine, block, count);
    } else {
        subtract_f32(affine, block, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        block->x.f32[i] *= block->scale.f32[i * block->step];
    }
}

static void subtract_f64(ember_affine_block_t *block, uint32_t count) {
    double *x = block->x.f64;
    ember_numbers_convert(x, EMBER_CLASS_S64, EMBER_CLASS_F64, count);
    for (uint32_t i = 0; i < count; i++) {
        x[i] -= block->zero.f64[i * block->step];
    }
}

static void compute_f64(const ember_affine_t *affine, ember_affine_block_t *block,
                        uint32_t count) {
    if (in_integers(affine)) {
        subtract_integers(affine, block, count);
    } else {
        subtract_f64(block, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        block->x.f64[i] *= block->scale.f64[i * block->step];
    }
}

void ember_dequantize_run(const ember_affine_t *affine) {
    ember_affine_walk(affine, begin,
                      affine->class == EMBER_CLASS_F64 ? compute_f64 : compute_f32);
}

// --- prepare -------------------------------------------------------------------

static bool find_class(ember_affine_t *affine, ember_affine_form_t form) {
    const uint8_t scale = affine->dtypes[EMBER_AFFINE_SCALE];
    const uint8_t zero = affine->dtypes[EMBER_AFFINE_ZERO];
    if (scale != EMBER_F32 && scale != EMBER_F64) {
        return false;
    }
    if (form == EMBER_AFFINE_TENSOR) {
        affine->difference = affine->dtypes[EMBER_AFFINE_Y];
        affine->class = (uint8_t)ember_class_of(affine->difference);
        return true;
    }
    affine->class = (uint8_t)ember_class_of(scale);
    affine->difference = zero;
    return zero == EMBER_S32 || zero == EMBER_S64 || zero == scale;
}

ember_status_t ember_dequantize_prepare(ember_affine_t *affine, ember_node_t *node,
                                        ember_affine_form_t form) {
    const uint32_t first = form == EMBER_AFFINE_CHANNEL ? 4 : 3;
    // calls of the cortex_m dialect have no dtype of the result
    const bool told = ember_node_kind(node, first + 3) != EMBER_TENSOR;
    const uint32_t out = told ? first + 4 : first + 3;
    const ember_status_t status = ember_affine_read(affine, node, form, out);
    const uint8_t *dtypes = affine->dtypes;
    int64_t low;
    int64_t high;
    if (status != EMBER_OK) {
        return status;
    }
    if (!ember_quantized_range(dtypes[EMBER_AFFINE_X], &low, &high) ||
        !ember_is_real(dtypes[EMBER_AFFINE_Y]) || !find_class(affine, form)) {
        return EMBER_UNSUPPORTED;
    }
    const int64_t dtype = ember_node_int(node, first + 2);
    const int64_t result =
        told ? ember_node_int_or(node, first + 3, EMBER_F32) : EMBER_F32;
    if (dtype != dtypes[EMBER_AFFINE_X] || result != dtypes[EMBER_AFFINE_Y]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "dequantize: wrong dtypes");
    }
    return ember_node_status(node);
}
