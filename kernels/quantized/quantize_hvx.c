// SPDX-License-Identifier: Apache-2.0
// Contract: quantize_hvx.h.
#include "kernels/quantized/quantize_hvx.h"

// The high word of the product has units of 2^18 times those of both factors, whose
// exponents are biased by 150.
enum { PLACES = 2 * 150 - 18, BIAS = 127 };

ember_quantize_hvx_t ember_quantize_scaled_hvx(uint32_t significand, int32_t exponent,
                                               const ember_quantize_to_hvx_t *to) {
    const int32_t added = to->is_unsigned ? 128 : 0;
    return (ember_quantize_hvx_t){
        .significand = Q6_V_vsplat_R((int32_t)significand),
        .right = Q6_V_vsplat_R(PLACES - BIAS - exponent),
        .zero_point = Q6_V_vsplat_R(to->zero_point - added),
        .nothing = Q6_V_vsplat_R(-added),
        .low = Q6_Vb_vsplat_R(to->low - added),
        .high = Q6_Vb_vsplat_R(to->high - added),
        .flip = Q6_Vb_vsplat_R(added),
    };
}

ember_quantize_hvx_t ember_quantize_by_hvx(float factor,
                                           const ember_quantize_to_hvx_t *to) {
    const uint32_t bits = ember_float_bits(factor);
    const uint32_t significand =
        (bits | UINT32_C(1) << EMBER_SIGNIFICAND_BITS) << 8 >> 1;
    const int32_t exponent = (int32_t)(bits >> EMBER_SIGNIFICAND_BITS) - BIAS;
    return ember_quantize_scaled_hvx(significand, exponent, to);
}

void ember_quantize_hvx(const float *x, uint32_t count, const ember_quantize_hvx_t *by,
                        int8_t *y) {
    ember_quantize_all_hvx(x, count, by, y, ember_quantized_hvx);
}
