// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor with HVX, in integer arithmetic: float32 to int8 or uint8 (int8
// plus 128), 128 elements at a time. Contract: quantize_per_tensor_f32.h.
//
// The product of two float32 is that of their significands, rounded to 24 bits, ties to
// even, and then to an integer, likewise.
#include "kernels/cortex_m/float_hvx.h"
#include "kernels/engine/mathf.h"
#include "kernels/quantized/quantize_per_tensor_f32.h"

enum { ENOUGH = 128 };
// The high word of the product has units of 2^18 times those of both factors, whose
// exponents are biased by 150.
enum { PLACES = 2 * 150 - 18 };

typedef struct factor {
    HVX_Vector significand; // 31 bits
    HVX_Vector right;       // right shift for exponent 0
    HVX_Vector zero_point;  // int8, like the rest
    HVX_Vector nothing;     // what NaN becomes
} factor_t;

// The offset from int8.
static int32_t added(const ember_quantize_f32_t *s) {
    return s->affine.integers == EMBER_U8 ? 128 : 0;
}

static factor_t factor_of(const ember_quantize_f32_t *s) {
    const uint32_t bits = ember_float_bits(s->affine.factor);
    const uint32_t significand =
        (bits | UINT32_C(1) << EMBER_SIGNIFICAND_BITS) << 8 >> 1;
    const int32_t exponent = (int32_t)(bits >> EMBER_SIGNIFICAND_BITS);
    return (factor_t){Q6_V_vsplat_R((int32_t)significand),
                      Q6_V_vsplat_R(PLACES - exponent),
                      Q6_V_vsplat_R((int32_t)s->affine.zero_point - added(s)),
                      Q6_V_vsplat_R(-added(s))};
}

INLINE HVX_Vector quantized(const factor_t *by, HVX_Vector x) {
    const HVX_Vector twice = Q6_Vw_vasl_VwR(x, 1);
    const HVX_Vector exponent = Q6_Vuw_vlsr_VuwR(twice, EMBER_SIGNIFICAND_BITS + 1);
    const HVX_Vector product =
        ember_product_hvx(ember_significands_hvx(x), by->significand);
    const HVX_Vector size =
        ember_nearest_hvx(product, Q6_Vw_vsub_VwVw(by->right, exponent));
    const HVX_Vector number = ember_signed_hvx(size, Q6_Vw_vasr_VwR(x, 31));
    const HVX_Vector infinite = Q6_V_vsplat_R((int32_t)0xff000000);
    return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(twice, infinite), by->nothing,
                         Q6_Vw_vadd_VwVw(number, by->zero_point));
}

typedef struct limits {
    HVX_Vector low; // int8, like high
    HVX_Vector high;
    HVX_Vector flip; // converts it to uint8
} limits_t;

INLINE HVX_Vector results_of(const limits_t *limits, const HVX_Vector *words) {
    const HVX_Vector bytes = ember_bytes_hvx(words[0], words[1], words[2], words[3]);
    const HVX_Vector low = Q6_Vb_vmax_VbVb(bytes, limits->low);
    return Q6_V_vxor_VV(Q6_Vb_vmin_VbVb(low, limits->high), limits->flip);
}

static int32_t run(void *state) {
    const ember_quantize_f32_t *s = state;
    const factor_t by = factor_of(s);
    const float *x = s->affine.x;
    int8_t *y = s->affine.y;
    int32_t left = (int32_t)s->affine.count;
    const limits_t limits = {Q6_Vb_vsplat_R((int32_t)s->low - added(s)),
                             Q6_Vb_vsplat_R((int32_t)s->high - added(s)),
                             Q6_Vb_vsplat_R(added(s))};
    HVX_Vector words[4];

    if (s->affine.count < ENOUGH / 4 || !ember_quantize_f32_apart(s)) {
        return ember_quantize_f32_run(state);
    }
    for (; left >= EMBER_HVX; left -= EMBER_HVX) {
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) {
            words[i] = quantized(&by, ember_hvx_load_any(x + i * 32));
        }
        ember_hvx_store_any(y, results_of(&limits, words));
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
    if (left == 0) {
        return EMBER_OK;
    }
    for (int i = 0; i < 4; i++) {
        const int32_t bytes = ember_hvx_hidden((left - i * 32) * 4);
        words[i] = Q6_V_vzero();
        if (bytes > 0) {
            words[i] = quantized(
                &by, ember_load_left_hvx((const int8_t *)(x + i * 32), bytes));
        }
    }
    ember_hvx_store_part(y, results_of(&limits, words), left);
    return EMBER_OK;
}

// NaN becomes 0, which must be in the range.
static bool takes(const ember_quantize_f32_t *s) {
    const float least = (float)(added(s) + INT8_MIN), most = least + 255.0f;
    const float zero = s->affine.zero_point;
    const bool bytes = s->affine.integers == EMBER_S8 || s->affine.integers == EMBER_U8;
    return bytes && ember_quantize_f32_is_normal(s) && s->low <= 0.0f &&
           s->high >= 0.0f && zero >= least && zero <= most &&
           s->affine.count <= 1 << 28;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_quantize_f32_t *s = state;
    const ember_status_t status = ember_quantize_f32_prepare(node, state);

    if (status == EMBER_OK && !takes(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantize_hvx: another range");
    }
    return status;
}

EMBER_KERNEL(quantize_per_tensor_f32_hvx, ember_quantize_f32_t);
