// SPDX-License-Identifier: Apache-2.0
// Contract: dequantize_hvx.h.
//
// An element minus the zero point has 9 bits, and its product with the scale's
// significand 32, which are rounded to 24, ties to even.
#include "kernels/quantized/dequantize_hvx.h"

#include "kernels/cortex_m/float_hvx.h"
#include "kernels/engine/mathf.h"

enum { FEW = 32 };

typedef struct scale {
    HVX_Vector zero_point; // halves
    HVX_Vector significand;
    HVX_Vector exponent; // of a product whose first bit is set, minus one
} scale_t;

static scale_t scale_of(float scale, int32_t zero_point) {
    const uint32_t bits = ember_float_bits(scale);
    const uint32_t leading = UINT32_C(1) << EMBER_SIGNIFICAND_BITS;
    const uint32_t significand = (bits & (leading - 1)) | leading;
    const int32_t exponent = (int32_t)(bits >> EMBER_SIGNIFICAND_BITS);
    return (scale_t){Q6_Vh_vsplat_R(zero_point), Q6_V_vsplat_R((int32_t)significand),
                     Q6_V_vsplat_R(exponent + 7)};
}

// Rounding may carry into the exponent, which is correct.
INLINE HVX_Vector dequantized(const scale_t *by, HVX_Vector x) {
    const HVX_Vector zero = Q6_V_vzero();
    const HVX_Vector sign = Q6_Vw_vasr_VwR(x, 31);
    const HVX_Vector size = Q6_Vw_vsub_VwVw(Q6_V_vxor_VV(x, sign), sign);
    const HVX_Vector product = Q6_Vw_vmpyie_VwVuh(by->significand, size);
    const HVX_Vector zeros = Q6_Vuw_vcl0_Vuw(product);
    const HVX_Vector all = Q6_Vw_vasl_VwVw(product, zeros);
    const HVX_Vector kept = Q6_Vuw_vlsr_VuwR(all, 8);
    const HVX_Vector odd = Q6_V_vand_VV(kept, Q6_V_vsplat_R(1));
    const HVX_Vector rest = Q6_V_vand_VV(all, Q6_V_vsplat_R(255));
    const HVX_Vector up =
        Q6_Vw_vadd_VwVw(Q6_Vw_vadd_VwVw(rest, odd), Q6_V_vsplat_R(127));
    const HVX_Vector rounded = Q6_Vw_vadd_VwVw(kept, Q6_Vuw_vlsr_VuwR(up, 8));
    const HVX_Vector exponent = Q6_Vw_vsub_VwVw(by->exponent, zeros);
    const HVX_Vector bits =
        Q6_Vw_vadd_VwVw(Q6_Vw_vasl_VwR(exponent, EMBER_SIGNIFICAND_BITS), rounded);
    const HVX_Vector signed_bits = Q6_V_vor_VV(bits, Q6_Vw_vasl_VwR(sign, 31));
    return Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(x, zero), zero, signed_bits);
}

// `flip` converts uint8 to int8.
INLINE void run(const int8_t *x, uint32_t count, const scale_t *by, HVX_Vector flip,
                float *y) {
    int32_t left = (int32_t)count;
    HVX_Vector words[4];

    for (; left >= EMBER_HVX; left -= EMBER_HVX) {
        const HVX_Vector bytes = Q6_V_vxor_VV(ember_hvx_load_any(x), flip);
        ember_words_hvx(bytes, by->zero_point, words);
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) {
            ember_hvx_store_any(y + i * 32, dequantized(by, words[i]));
        }
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
    if (left > 0) {
        const HVX_Vector bytes = Q6_V_vxor_VV(ember_hvx_load_part(x, left), flip);
        ember_words_hvx(bytes, by->zero_point, words);
    }
    for (int i = 0; i < 4; i++) {
        const int32_t size = ember_hvx_hidden((left - i * 32) * 4);
        if (size > 0) {
            ember_store_left_hvx((int8_t *)(y + i * 32), dequantized(by, words[i]),
                                 size);
        }
    }
}

void ember_dequantize_s8_hvx(const int8_t *x, uint32_t count, float scale,
                             int32_t zero_point, float *y) {
    const scale_t by = scale_of(scale, zero_point);

    if (count >= FEW) {
        run(x, count, &by, Q6_V_vzero(), y);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        y[i] = (float)(x[i] - zero_point) * scale;
    }
}

void ember_dequantize_u8_hvx(const uint8_t *x, uint32_t count, float scale,
                             int32_t zero_point, float *y) {
    const scale_t by = scale_of(scale, zero_point + INT8_MIN);

    if (count >= FEW) {
        run((const int8_t *)x, count, &by, Q6_Vb_vsplat_R(INT8_MIN), y);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        y[i] = (float)(x[i] - zero_point) * scale;
    }
}
