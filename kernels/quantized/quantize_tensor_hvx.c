// SPDX-License-Identifier: Apache-2.0
// Whole tensors quantised with HVX. Contract: quantize_tensor_hvx.h.
#include "kernels/quantized/quantize_tensor_hvx.h"

#include "kernels/quantized/quantize_hvx.h"

enum { FEW = 24 }; // elements, for which portable C takes fewer packets

// Whether vectors take a scale and a zero point.
static bool takes(const ember_quantize_f32_t *s, float factor, float zero) {
    const float least = s->affine.integers == EMBER_U8 ? 0.0f : (float)INT8_MIN;
    return factor >= EMBER_QUANTIZE_LEAST_HVX && factor <= EMBER_QUANTIZE_MOST_HVX &&
           zero >= least && zero <= least + 255.0f;
}

int32_t ember_quantize_tensor_hvx_run(void *state) {
    const ember_quantize_f32_t *s = state;
    float factor, zero;

    ember_affine_f32_read(&s->affine, &factor, &zero);
    if (!takes(s, factor, zero) || !ember_quantize_f32_apart(s)) {
        return ember_quantize_f32_run(state);
    }
    const bool is_unsigned = s->affine.integers == EMBER_U8;
    const ember_quantize_to_hvx_t to = {(int32_t)zero, (int32_t)s->low,
                                        (int32_t)s->high, is_unsigned};
    ember_quantize_hvx_t by = ember_quantize_by_hvx(factor, &to);
    by.nothing = Q6_V_vsplat_R(s->nothing - (is_unsigned ? 128 : 0));
    ember_quantize_hvx(s->affine.x, s->affine.count, &by, s->affine.y);
    return EMBER_OK;
}

// Scales and zero points that are tensors are looked at in every run.
ember_status_t ember_quantize_tensor_hvx_prepare(ember_node_t *node,
                                                 ember_quantize_f32_t *s) {
    const ember_affine_f32_t *affine = &s->affine;
    const ember_status_t status = ember_quantize_f32_prepare(node, s);

    if (status != EMBER_OK) {
        return status;
    }
    const bool range = s->low <= 0.0f && s->high >= 0.0f && affine->count >= FEW &&
                       affine->count <= 1 << 28;
    const bool constant = affine->scale == NULL && affine->zero == NULL;
    return range && (!constant || takes(s, affine->factor, affine->zero_point))
               ? EMBER_OK
               : ember_node_fail(node, EMBER_UNSUPPORTED,
                                 "quantize_hvx: another range");
}
