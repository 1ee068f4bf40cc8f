// SPDX-License-Identifier: Apache-2.0
// From real numbers to small integers. Contract: affine.h.
#include <math.h>

#include "kernels/engine/affine.h"
#include "kernels/engine/mathf.h"

static void begin(const ember_affine_t *affine, ember_affine_block_t *block,
                  uint32_t count) {
    const ember_class_t class = (ember_class_t)affine->class;
    for (uint32_t i = 0; i < count; i++) {
        block->scale.f64[i] = 1.0 / block->scale.f64[i];
    }
    ember_numbers_convert(&block->scale, EMBER_CLASS_F64, class, count);
    ember_numbers_convert(
        &block->zero, ember_class_of(affine->dtypes[EMBER_AFFINE_ZERO]), class, count);
}

static void compute_f32(const ember_affine_t *affine, ember_affine_block_t *block,
                        uint32_t count) {
    const bool token = affine->form == EMBER_AFFINE_TOKEN;
    float *x = block->x.f32;
    for (uint32_t i = 0; i < count; i++) {
        const float zero = block->zero.f32[i * block->step];
        const float scaled = x[i] * block->scale.f32[i * block->step];
        const float q =
            token ? ember_roundf(scaled + zero) : ember_roundf(scaled) + zero;
        x[i] = ember_cut_f32(q, affine->low.f32, affine->high.f32, affine->worst.f32);
    }
}

static void compute_f64(const ember_affine_t *affine, ember_affine_block_t *block,
                        uint32_t count) {
    const bool token = affine->form == EMBER_AFFINE_TOKEN;
    double *x = block->x.f64;
    ember_numbers_convert(x, ember_class_of(affine->dtypes[EMBER_AFFINE_X]),
                          EMBER_CLASS_F64, count);
    for (uint32_t i = 0; i < count; i++) {
        const double zero = block->zero.f64[i * block->step];
        const double scaled = x[i] * block->scale.f64[i * block->step];
        double q = token ? nearbyint(scaled + zero) : nearbyint(scaled) + zero;
        const bool is_nan = q != q;
        q = q < affine->low.f64 ? affine->low.f64 : q;
        q = q > affine->high.f64 ? affine->high.f64 : q;
        x[i] = is_nan ? affine->worst.f64 : q;
    }
}

void ember_quantize_run(const ember_affine_t *affine) {
    ember_affine_walk(affine, begin,
                      affine->class == EMBER_CLASS_F64 ? compute_f64 : compute_f32);
}

// --- prepare -------------------------------------------------------------------

// The class of x * (1 / scale) by PyTorch's promotion; false for float16 arithmetic and
// integers.
static bool find_class(ember_affine_t *affine, bool lists) {
    const uint8_t *dtypes = affine->dtypes;
    const uint8_t x = dtypes[EMBER_AFFINE_X];
    const uint8_t scale = dtypes[EMBER_AFFINE_SCALE];
    const uint8_t zero = dtypes[EMBER_AFFINE_ZERO];
    const bool wide = x == EMBER_F64 || (lists && scale == EMBER_F64);

    affine->class = wide ? EMBER_CLASS_F64 : EMBER_CLASS_F32;
    if (!ember_is_real(x) || (scale != EMBER_F32 && scale != EMBER_F64)) {
        return false;
    }
    return zero != EMBER_B1 && (zero != EMBER_F64 || wide || !lists);
}

static bool find_range(ember_affine_t *affine, ember_node_t *node, uint32_t first) {
    const uint32_t dtype = affine->dtypes[EMBER_AFFINE_Y];
    const ember_class_t class = (ember_class_t)affine->class;
    int64_t low = 0;
    int64_t high = 0;
    if (!ember_quantized_range(dtype, &low, &high)) {
        return false;
    }
    affine->low.s64 = ember_node_int_in(node, first, low, INT32_MAX);
    affine->high.s64 = ember_node_int(node, first + 1);
    if (affine->high.s64 > high || affine->high.s64 < INT32_MIN) {
        return false;
    }
    affine->worst.s64 = dtype == EMBER_S32 ? low : 0;
    ember_numbers_convert(&affine->low, EMBER_CLASS_S64, class, 1);
    ember_numbers_convert(&affine->high, EMBER_CLASS_S64, class, 1);
    ember_numbers_convert(&affine->worst, EMBER_CLASS_S64, class, 1);
    return ember_node_int(node, first + 2) == dtype;
}

ember_status_t ember_quantize_prepare(ember_affine_t *affine, ember_node_t *node,
                                      ember_affine_form_t form) {
    const uint32_t first = form == EMBER_AFFINE_CHANNEL ? 4 : 3;
    const ember_status_t status = ember_affine_read(affine, node, form, first + 3);
    if (status != EMBER_OK) {
        return status;
    }
    if (!find_class(affine, form != EMBER_AFFINE_TENSOR)) {
        return EMBER_UNSUPPORTED;
    }
    if (!find_range(affine, node, first)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "quantize: the range is not the output's");
    }
    return ember_node_status(node);
}
