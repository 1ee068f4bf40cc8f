// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor with Hexagon's vectors of integers: float32 to all of int8, 128
// numbers at a time. Contract: quantize_per_tensor_f32.h.
//
// The product of two float32 is that of their significands, rounded to 24 bits, halves
// to even, and then to an integer, likewise.
#include "kernels/cortex_m/scale_hvx.h"
#include "kernels/engine/mathf.h"
#include "kernels/quantized/quantize_per_tensor_f32.h"

enum { SIGNIFICAND_BITS = 23, EXPONENTS = 255, ENOUGH = 128 };
// The product's higher word counts 2^18 of the last places of both factors, whose
// exponents are biased by 150.
enum { PLACES = 2 * 150 - 18 };
// Numbers that are shifted by fewer bits are larger than any int8, by more smaller than
// a half.
enum { RIGHT_MIN = 8, RIGHT_MAX = 31 };

typedef struct factor {
    HVX_Vector significand; // 31 bits
    HVX_Vector right;       // bits to shift for exponent 0
    HVX_Vector zero_point;
} factor_t;

static factor_t factor_of(const ember_quantize_f32_t *s) {
    const uint32_t bits = ember_float_bits(s->affine.factor);
    const uint32_t significand = (bits | UINT32_C(1) << SIGNIFICAND_BITS) << 8 >> 1;
    const int32_t exponent = (int32_t)(bits >> SIGNIFICAND_BITS);
    return (factor_t){Q6_V_vsplat_R((int32_t)significand),
                      Q6_V_vsplat_R(PLACES - exponent),
                      Q6_V_vsplat_R((int32_t)s->affine.zero_point)};
}

// x, not negative as a whole, without its last `bits`, of which the first is worth
// `half` + 1: rounded, halves to even.
INLINE HVX_Vector rounded(HVX_Vector x, HVX_Vector bits, HVX_Vector half) {
    const HVX_Vector one = Q6_V_vsplat_R(1);
    const HVX_Vector odd = Q6_V_vand_VV(Q6_Vw_vlsr_VwVw(x, bits), one);
    const HVX_Vector up = Q6_Vw_vadd_VwVw(half, odd);
    return Q6_Vw_vlsr_VwVw(Q6_Vw_vadd_VwVw(x, up), bits);
}

// The higher words of products of significands, from 2^28 to 2^30, with their last bit
// set where the lower ones are not 0.
INLINE HVX_Vector product_of(HVX_Vector x, HVX_Vector significand) {
    const HVX_Vector leading = Q6_V_vsplat_R(INT32_MIN);
    const HVX_Vector left = Q6_V_vor_VV(Q6_Vw_vasl_VwR(x, 8), leading);
    const HVX_Vector own = Q6_Vuw_vlsr_VuwR(left, 1);
    const HVX_VectorPair even = Q6_W_vmpye_VwVuh(own, significand);
    const HVX_VectorPair all = Q6_W_vmpyoacc_WVwVh(even, own, significand);
    const HVX_Vector high = Q6_V_hi_W(all);
    const HVX_VectorPred exact = Q6_Q_vcmp_eq_VwVw(Q6_V_lo_W(all), Q6_V_vzero());
    return Q6_V_vmux_QVV(exact, high, Q6_V_vor_VV(high, Q6_V_vsplat_R(1)));
}

// The product has 29 or 30 bits, of which 24 stay.
INLINE HVX_Vector cut(HVX_Vector product) {
    const HVX_Vector large = Q6_Vuw_vlsr_VuwR(product, 29);
    const HVX_Vector bits = Q6_Vw_vadd_VwVw(Q6_V_vsplat_R(5), large);
    const HVX_Vector half =
        Q6_Vw_vadd_VwVw(Q6_V_vsplat_R(15), Q6_Vw_vasl_VwR(large, 4));
    return Q6_Vw_vasl_VwVw(rounded(product, bits, half), bits);
}

INLINE HVX_Vector quantized(const factor_t *by, HVX_Vector x) {
    const HVX_Vector one = Q6_V_vsplat_R(1);
    const HVX_Vector twice = Q6_Vw_vasl_VwR(x, 1);
    const HVX_Vector exponent = Q6_Vuw_vlsr_VuwR(twice, SIGNIFICAND_BITS + 1);
    const HVX_Vector shift = Q6_Vw_vsub_VwVw(by->right, exponent);
    const HVX_Vector right = Q6_Vw_vmax_VwVw(
        Q6_Vw_vmin_VwVw(shift, Q6_V_vsplat_R(RIGHT_MAX)), Q6_V_vsplat_R(RIGHT_MIN));
    const HVX_Vector half =
        Q6_Vw_vsub_VwVw(Q6_Vw_vasl_VwVw(one, Q6_Vw_vsub_VwVw(right, one)), one);
    const HVX_Vector size = rounded(cut(product_of(x, by->significand)), right, half);
    const HVX_Vector sign = Q6_Vw_vasr_VwR(x, 31);
    const HVX_Vector number = Q6_Vw_vsub_VwVw(Q6_V_vxor_VV(size, sign), sign);
    const HVX_Vector infinite = Q6_V_vsplat_R((int32_t)0xff000000);
    return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(twice, infinite), Q6_V_vzero(),
                         Q6_Vw_vadd_VwVw(number, by->zero_point));
}

static int32_t run(void *state) {
    const ember_quantize_f32_t *s = state;
    const factor_t by = factor_of(s);
    const float *x = s->affine.x;
    int8_t *y = s->affine.y;

    if (s->affine.count < ENOUGH / 4 || !ember_quantize_f32_apart(s)) {
        return ember_quantize_f32_run(state);
    }
    for (int32_t left = (int32_t)s->affine.count; left > 0; left -= EMBER_HVX) {
        HVX_Vector words[4];
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) {
            const int32_t bytes = (left - i * 32) * 4;
            words[i] = Q6_V_vzero();
            if (bytes > 0) {
                words[i] = quantized(
                    &by, ember_load_left_hvx((const int8_t *)(x + i * 32), bytes));
            }
        }
        ember_store_left_hvx(y, ember_bytes_hvx(words[0], words[1], words[2], words[3]),
                             left);
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_quantize_f32_t *s = state;
    const ember_status_t status = ember_quantize_f32_prepare(node, state);

    if (status == EMBER_OK &&
        (!ember_quantize_f32_is_plain(s) || s->affine.count > 1 << 28)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantize_hvx: another range");
    }
    return status;
}

EMBER_KERNEL(quantize_per_tensor_f32_hvx, ember_quantize_f32_t);
