// SPDX-License-Identifier: Apache-2.0
// Words of HVX become float32 numbers times a scale.
//
// An element minus the zero point has 9 bits, and its product with the scale's
// significand 32, which are rounded to 24, ties to even.
#ifndef EMBER_KERNELS_ENGINE_HVX_DEQUANTIZE_WORDS_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_DEQUANTIZE_WORDS_HVX_H

#include "kernels/engine/hvx/float_hvx.h"
#include "kernels/engine/mathf.h"

typedef struct ember_dequantize_hvx {
    HVX_Vector zero_point; // halves
    HVX_Vector significand;
    HVX_Vector exponent; // of a product whose first bit is set, minus one
} ember_dequantize_hvx_t;

static inline ember_dequantize_hvx_t ember_dequantize_by_hvx(float scale,
                                                             int32_t zero_point) {
    const uint32_t bits = ember_float_bits(scale);
    const uint32_t leading = UINT32_C(1) << EMBER_SIGNIFICAND_BITS;
    const uint32_t significand = (bits & (leading - 1)) | leading;
    const int32_t exponent = (int32_t)(bits >> EMBER_SIGNIFICAND_BITS);
    return (ember_dequantize_hvx_t){Q6_Vh_vsplat_R(zero_point),
                                    Q6_V_vsplat_R((int32_t)significand),
                                    Q6_V_vsplat_R(exponent + 7)};
}

// The bits of x, up to 255 with either sign, times the scale. Rounding may carry into
// the exponent, which is correct.
INLINE HVX_Vector ember_dequantized_hvx(const ember_dequantize_hvx_t *by,
                                        HVX_Vector x) {
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

#endif // EMBER_KERNELS_ENGINE_HVX_DEQUANTIZE_WORDS_HVX_H
