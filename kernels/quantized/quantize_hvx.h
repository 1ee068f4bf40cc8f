// SPDX-License-Identifier: Apache-2.0
// float32 to int8 or uint8 (int8 plus 128) with HVX, in integer arithmetic, 128
// elements at a time:
//
//     y[i] = clamp(round(x[i] * factor) + zero_point)
//
// The product of two float32 is that of their significands, rounded to 24 bits, ties to
// even, and then to an integer, likewise.
#ifndef EMBER_KERNELS_QUANTIZED_QUANTIZE_HVX_H
#define EMBER_KERNELS_QUANTIZED_QUANTIZE_HVX_H

#include <stdbool.h>

#include "kernels/engine/hvx/float_hvx.h"
#include "kernels/engine/mathf.h"

// Factors for which infinities exceed int8, and denormals become 0.
#define EMBER_QUANTIZE_LEAST_HVX 0x1p-116f
#define EMBER_QUANTIZE_MOST_HVX  0x1p116f

// What quantises the elements of a line, as the program states it. Zero point, low and
// high are in the range of y, and 0 is between low and high: NaN becomes 0.
typedef struct ember_quantize_to_hvx {
    int32_t zero_point;
    int32_t low;
    int32_t high;
    bool is_unsigned; // y is uint8
} ember_quantize_to_hvx_t;

// The same in vectors. Numbers are those of int8: of uint8, minus 128.
typedef struct ember_quantize_hvx {
    HVX_Vector significand; // of the factor, 31 bits
    HVX_Vector right;       // right shift for exponent 0
    HVX_Vector zero_point;
    HVX_Vector nothing; // what NaN becomes
    HVX_Vector low;     // bytes, like those below
    HVX_Vector high;
    HVX_Vector flip; // converts int8 to uint8
} ember_quantize_hvx_t;

// A factor of `significand` * 2^(exponent - 30), of which the former has 31 bits.
ember_quantize_hvx_t ember_quantize_scaled_hvx(uint32_t significand, int32_t exponent,
                                               const ember_quantize_to_hvx_t *to);

// A factor from EMBER_QUANTIZE_LEAST_HVX to EMBER_QUANTIZE_MOST_HVX.
ember_quantize_hvx_t ember_quantize_by_hvx(float factor,
                                           const ember_quantize_to_hvx_t *to);

// `count` elements, below 2^31; y may start where x does.
void ember_quantize_hvx(const float *x, uint32_t count, const ember_quantize_hvx_t *by,
                        int8_t *y);

// --- words ---------------------------------------------------------------------------

// The right shift of a product of x.
INLINE HVX_Vector ember_quantize_shift_hvx(const ember_quantize_hvx_t *by,
                                           HVX_Vector x) {
    const HVX_Vector twice = Q6_Vw_vasl_VwR(x, 1);
    const HVX_Vector exponent = Q6_Vuw_vlsr_VuwR(twice, EMBER_SIGNIFICAND_BITS + 1);
    return Q6_Vw_vsub_VwVw(by->right, exponent);
}

// `number`, or what NaN becomes where x is one.
INLINE HVX_Vector ember_unless_nan_hvx(const ember_quantize_hvx_t *by, HVX_Vector x,
                                       HVX_Vector number) {
    const HVX_Vector infinite = Q6_V_vsplat_R((int32_t)0xff000000);
    return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(Q6_Vw_vasl_VwR(x, 1), infinite),
                         by->nothing, number);
}

// 32 elements as integers, which may be beyond int8.
INLINE HVX_Vector ember_quantized_hvx(const ember_quantize_hvx_t *by, HVX_Vector x) {
    const HVX_Vector product =
        ember_product_hvx(ember_significands_hvx(x), by->significand);
    const HVX_Vector size = ember_nearest_hvx(product, ember_quantize_shift_hvx(by, x));
    const HVX_Vector number = ember_signed_hvx(size, Q6_Vw_vasr_VwR(x, 31));
    return ember_unless_nan_hvx(by, x, Q6_Vw_vadd_VwVw(number, by->zero_point));
}

// --- for other roundings -------------------------------------------------------------

// x times the factor, without its sign, is product * 2^-right; it is 0 below a quarter,
// and beyond int8 and any zero point where that is. Products have 29 or 30 bits.
typedef struct ember_quotient_hvx {
    HVX_Vector product;
    HVX_Vector right; // EMBER_RIGHT_MIN to EMBER_RIGHT_MAX
} ember_quotient_hvx_t;

INLINE ember_quotient_hvx_t ember_quotient_hvx(const ember_quantize_hvx_t *by,
                                               HVX_Vector x) {
    const HVX_Vector most = Q6_V_vsplat_R(EMBER_RIGHT_MAX);
    const HVX_Vector shift = ember_quantize_shift_hvx(by, x);
    const HVX_Vector product =
        ember_product_hvx(ember_significands_hvx(x), by->significand);
    return (ember_quotient_hvx_t){
        Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(shift, most), Q6_V_vzero(), product),
        Q6_Vw_vmax_VwVw(Q6_Vw_vmin_VwVw(shift, most), Q6_V_vsplat_R(EMBER_RIGHT_MIN))};
}

// The bits of product behind the point, as 31 bits.
INLINE HVX_Vector ember_fraction_hvx(HVX_Vector product, HVX_Vector right) {
    const HVX_Vector left = Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(EMBER_RIGHT_MAX), right);
    return Q6_V_vand_VV(Q6_Vw_vasl_VwVw(product, left), Q6_V_vsplat_R(INT32_MAX));
}

// Four vectors of words become the results.
INLINE HVX_Vector ember_quantize_bytes_hvx(const ember_quantize_hvx_t *by,
                                           const HVX_Vector *words) {
    const HVX_Vector bytes = ember_bytes_hvx(words[0], words[1], words[2], words[3]);
    const HVX_Vector low = Q6_Vb_vmax_VbVb(bytes, by->low);
    return Q6_V_vxor_VV(Q6_Vb_vmin_VbVb(low, by->high), by->flip);
}

// A vector of words, from 32 elements.
typedef HVX_Vector (*ember_quantize_fn)(const ember_quantize_hvx_t *by, HVX_Vector x);

// Elements from x on, of which `left` exist, up to 128.
INLINE HVX_Vector ember_quantize_last_hvx(const float *x, int32_t left,
                                          const ember_quantize_hvx_t *by,
                                          ember_quantize_fn number) {
    HVX_Vector words[4];

    for (int i = 0; i < 4; i++) {
        const int32_t bytes = ember_hvx_hidden((left - i * 32) * 4);
        words[i] = Q6_V_vzero();
        if (bytes > 0) {
            words[i] =
                number(by, ember_load_left_hvx((const int8_t *)(x + i * 32), bytes));
        }
    }
    return ember_quantize_bytes_hvx(by, words);
}

INLINE void ember_quantize_all_hvx(const float *x, uint32_t count,
                                   const ember_quantize_hvx_t *by, int8_t *y,
                                   ember_quantize_fn number) {
    int32_t left = (int32_t)count;
    HVX_Vector words[4];

    for (; left >= EMBER_HVX; left -= EMBER_HVX) {
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) {
            words[i] = number(by, ember_hvx_load_any(x + i * 32));
        }
        ember_hvx_store_any(y, ember_quantize_bytes_hvx(by, words));
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
    if (left > 0) {
        ember_hvx_store_part(y, ember_quantize_last_hvx(x, left, by, number), left);
    }
}

#endif // EMBER_KERNELS_QUANTIZED_QUANTIZE_HVX_H
