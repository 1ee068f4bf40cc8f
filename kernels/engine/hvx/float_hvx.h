// SPDX-License-Identifier: Apache-2.0
// float32 arithmetic with HVX's integer instructions, rounded as in IEEE 754: products,
// and products rounded to integers.
#ifndef EMBER_KERNELS_ENGINE_HVX_FLOAT_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_FLOAT_HVX_H

#include "kernels/engine/hvx/scale_hvx.h"

enum { EMBER_SIGNIFICAND_BITS = 23 };
// Products shifted by fewer bits exceed any int8; by more, they are below a half.
enum { EMBER_RIGHT_MIN = 8, EMBER_RIGHT_MAX = 31 };

// x, not negative, without its last `bits`, of which the first is worth `half` + 1:
// rounded to nearest even.
INLINE HVX_Vector ember_rounded_hvx(HVX_Vector x, HVX_Vector bits, HVX_Vector half) {
    const HVX_Vector one = Q6_V_vsplat_R(1);
    const HVX_Vector odd = Q6_V_vand_VV(Q6_Vw_vlsr_VwVw(x, bits), one);
    const HVX_Vector up = Q6_Vw_vadd_VwVw(half, odd);
    return Q6_Vw_vlsr_VwVw(Q6_Vw_vadd_VwVw(x, up), bits);
}

// The significands of normal numbers, from 2^30 to 2^31.
INLINE HVX_Vector ember_significands_hvx(HVX_Vector x) {
    const HVX_Vector leading = Q6_V_vsplat_R(INT32_MIN);
    const HVX_Vector left = Q6_V_vor_VV(Q6_Vw_vasl_VwR(x, 8), leading);
    return Q6_Vuw_vlsr_VuwR(left, 1);
}

// The high words of products of such significands, from 2^28 to 2^30, with their last
// bit set if the low ones are not 0.
INLINE HVX_Vector ember_product_hvx(HVX_Vector x, HVX_Vector y) {
    const HVX_VectorPair even = Q6_W_vmpye_VwVuh(x, y);
    const HVX_VectorPair all = Q6_W_vmpyoacc_WVwVh(even, x, y);
    const HVX_Vector high = Q6_V_hi_W(all);
    const HVX_VectorPred exact = Q6_Q_vcmp_eq_VwVw(Q6_V_lo_W(all), Q6_V_vzero());
    return Q6_V_vmux_QVV(exact, high, Q6_V_vor_VV(high, Q6_V_vsplat_R(1)));
}

// A product has 29 or 30 bits, of which 24 are kept.
INLINE HVX_Vector ember_cut_hvx(HVX_Vector product) {
    const HVX_Vector large = Q6_Vuw_vlsr_VuwR(product, 29);
    const HVX_Vector bits = Q6_Vw_vadd_VwVw(Q6_V_vsplat_R(5), large);
    const HVX_Vector half =
        Q6_Vw_vadd_VwVw(Q6_V_vsplat_R(15), Q6_Vw_vasl_VwR(large, 4));
    return Q6_Vw_vasl_VwVw(ember_rounded_hvx(product, bits, half), bits);
}

// The integers nearest to a product without its last `shift` bits, ties to even; beyond
// int8 if the product is.
INLINE HVX_Vector ember_nearest_hvx(HVX_Vector product, HVX_Vector shift) {
    const HVX_Vector one = Q6_V_vsplat_R(1);
    const HVX_Vector right =
        Q6_Vw_vmax_VwVw(Q6_Vw_vmin_VwVw(shift, Q6_V_vsplat_R(EMBER_RIGHT_MAX)),
                        Q6_V_vsplat_R(EMBER_RIGHT_MIN));
    const HVX_Vector half =
        Q6_Vw_vsub_VwVw(Q6_Vw_vasl_VwVw(one, Q6_Vw_vsub_VwVw(right, one)), one);
    return ember_rounded_hvx(ember_cut_hvx(product), right, half);
}

// The bits of floats become integers in the same order, NaN beyond both ends; and back.
INLINE HVX_Vector ember_turned_hvx(HVX_Vector bits) {
    const HVX_Vector sign = Q6_Vw_vasr_VwR(bits, 31);
    return Q6_V_vxor_VV(bits, Q6_Vuw_vlsr_VuwR(sign, 1));
}

// Numbers with the signs of others: negative where those are.
INLINE HVX_Vector ember_signed_hvx(HVX_Vector x, HVX_Vector sign) {
    return Q6_Vw_vsub_VwVw(Q6_V_vxor_VV(x, sign), sign);
}

// --- integers as float32 -------------------------------------------------------------

// An int32 as float32 represents it: its sign, significand from 2^30 to 2^31, and
// leading zeros as an integer. For 0 everything is 0 except the zeros, which are 32.
typedef struct ember_number_hvx {
    HVX_Vector sign; // -1 or 0
    HVX_Vector significand;
    HVX_Vector zeros;
} ember_number_hvx_t;

INLINE ember_number_hvx_t ember_number_hvx(HVX_Vector x) {
    const HVX_Vector least = Q6_Vw_vmax_VwVw(x, Q6_V_vsplat_R(-INT32_MAX));
    const HVX_Vector sign = Q6_Vw_vasr_VwR(least, 31);
    const HVX_Vector size = ember_signed_hvx(least, sign);
    const HVX_Vector zeros = Q6_Vuw_vcl0_Vuw(size);
    const HVX_Vector all =
        Q6_Vw_vasl_VwVw(size, Q6_Vw_vsub_VwVw(zeros, Q6_V_vsplat_R(1)));
    const HVX_Vector odd = Q6_V_vand_VV(Q6_Vuw_vlsr_VuwR(all, 7), Q6_V_vsplat_R(1));
    const HVX_Vector up = Q6_Vw_vadd_VwVw(Q6_V_vsplat_R(63), odd);
    const HVX_Vector sum = Q6_V_vand_VV(Q6_Vw_vadd_VwVw(all, up), Q6_V_vsplat_R(-128));
    const HVX_Vector over = Q6_Vuw_vlsr_VuwR(sum, 31);
    return (ember_number_hvx_t){sign, Q6_Vw_vlsr_VwVw(sum, over),
                                Q6_Vw_vsub_VwVw(zeros, over)};
}

// --- products that stay float32 ------------------------------------------------------

// significand * 2^exponent, with the sign; the significand is 0 or has 31 bits, of
// which 24 may be nonzero.
typedef struct ember_float_hvx {
    HVX_Vector sign;
    HVX_Vector significand;
    HVX_Vector exponent;
} ember_float_hvx_t;

enum { EMBER_FLOAT_PLACES = 157 }; // of the exponent's bias and of a significand
// Sums of products in ember_fma_hvx() are right if factors have sizes in this range, or
// are 0.
#define EMBER_FLOAT_LEAST 0x1p-40f
#define EMBER_FLOAT_MOST  0x1p40f

// For normal numbers that are not negative.
INLINE ember_float_hvx_t ember_float_hvx(HVX_Vector bits) {
    const HVX_Vector exponent = Q6_Vuw_vlsr_VuwR(bits, EMBER_SIGNIFICAND_BITS);
    return (ember_float_hvx_t){
        Q6_V_vzero(), ember_significands_hvx(bits),
        Q6_Vw_vsub_VwVw(exponent, Q6_V_vsplat_R(EMBER_FLOAT_PLACES))};
}

// For normal numbers and 0.
INLINE ember_float_hvx_t ember_float_of_bits_hvx(HVX_Vector bits) {
    const HVX_Vector twice = Q6_Vw_vasl_VwR(bits, 1);
    const HVX_Vector places = Q6_V_vsplat_R(EMBER_FLOAT_PLACES);
    const HVX_VectorPred none = Q6_Q_vcmp_eq_VwVw(twice, Q6_V_vzero());
    return (ember_float_hvx_t){
        Q6_Vw_vasr_VwR(bits, 31),
        Q6_V_vmux_QVV(none, Q6_V_vzero(), ember_significands_hvx(bits)),
        Q6_Vw_vsub_VwVw(Q6_Vuw_vlsr_VuwR(twice, EMBER_SIGNIFICAND_BITS + 1), places)};
}

INLINE ember_float_hvx_t ember_float_of_int_hvx(HVX_Vector x) {
    const ember_number_hvx_t number = ember_number_hvx(x);
    return (ember_float_hvx_t){number.sign, number.significand,
                               Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(1), number.zeros)};
}

// a * b, rounded.
INLINE ember_float_hvx_t ember_times_hvx(const ember_float_hvx_t *a,
                                         const ember_float_hvx_t *b) {
    const HVX_Vector one = Q6_V_vsplat_R(1);
    const HVX_Vector product =
        ember_cut_hvx(ember_product_hvx(a->significand, b->significand));
    const HVX_Vector left = Q6_Vw_vsub_VwVw(Q6_Vuw_vcl0_Vuw(product), one);
    const HVX_Vector exponent =
        Q6_Vw_vadd_VwVw(Q6_Vw_vadd_VwVw(a->exponent, b->exponent), Q6_V_vsplat_R(32));
    return (ember_float_hvx_t){Q6_V_vxor_VV(a->sign, b->sign),
                               Q6_Vw_vasl_VwVw(product, left),
                               Q6_Vw_vsub_VwVw(exponent, left)};
}

// Numbers of 64 bits.
typedef struct ember_wide_hvx {
    HVX_Vector high;
    HVX_Vector low;
} ember_wide_hvx_t;

// x where `negative` is 0, -x where it is -1.
INLINE ember_wide_hvx_t ember_wide_signed_hvx(ember_wide_hvx_t x, HVX_Vector negative) {
    const HVX_VectorPred none = Q6_Q_vcmp_eq_VwVw(x.low, Q6_V_vzero());
    const HVX_Vector carry =
        Q6_V_vand_VV(negative, Q6_V_vand_QV(none, Q6_V_vsplat_R(1)));
    return (ember_wide_hvx_t){Q6_Vw_vadd_VwVw(Q6_V_vxor_VV(x.high, negative), carry),
                              Q6_Vw_vsub_VwVw(Q6_V_vxor_VV(x.low, negative), negative)};
}

INLINE ember_wide_hvx_t ember_wide_sum_hvx(ember_wide_hvx_t x, ember_wide_hvx_t y) {
    const HVX_Vector low = Q6_Vw_vadd_VwVw(x.low, y.low);
    const HVX_Vector carry =
        Q6_V_vand_QV(Q6_Q_vcmp_gt_VuwVuw(x.low, low), Q6_V_vsplat_R(1));
    return (ember_wide_hvx_t){Q6_Vw_vadd_VwVw(Q6_Vw_vadd_VwVw(x.high, y.high), carry),
                              low};
}

// x between 0 and `most`.
INLINE HVX_Vector ember_within_hvx(HVX_Vector x, int32_t most) {
    return Q6_Vw_vmin_VwVw(Q6_Vw_vmax_VwVw(x, Q6_V_vzero()), Q6_V_vsplat_R(most));
}

// x, of 28 bits, without its last `right` bits (up to 63), which become the low word,
// or times 2^left.
INLINE ember_wide_hvx_t ember_wide_shifted_hvx(HVX_Vector x, HVX_Vector left,
                                               HVX_Vector right) {
    const HVX_Vector most = Q6_V_vsplat_R(31);
    const HVX_Vector all = Q6_Vw_vasl_VwVw(x, left);
    const HVX_Vector moved = Q6_Vw_vlsr_VwVw(all, right);
    const HVX_Vector rest =
        Q6_Vw_vasl_VwVw(Q6_Vw_vasl_VwR(all, 1), Q6_Vw_vsub_VwVw(most, right));
    const HVX_VectorPred far = Q6_Q_vcmp_gt_VuwVuw(right, most);
    return (ember_wide_hvx_t){Q6_V_vmux_QVV(far, Q6_V_vzero(), moved),
                              Q6_V_vmux_QVV(far, moved, rest)};
}

// A size times 2^unit, which is not negative, as float32 without its sign.
INLINE HVX_Vector ember_wide_float_hvx(ember_wide_hvx_t x, HVX_Vector unit) {
    const HVX_Vector zero = Q6_V_vzero();
    const HVX_Vector one = Q6_V_vsplat_R(1);
    const HVX_Vector zeros = Q6_Vuw_vcl0_Vuw(x.high);
    const HVX_Vector more = Q6_Vuw_vcl0_Vuw(x.low);
    const HVX_VectorPred low_only = Q6_Q_vcmp_eq_VwVw(x.high, zero);
    const HVX_Vector moved = Q6_Vw_vlsr_VwVw(Q6_Vuw_vlsr_VuwR(x.low, 1),
                                             Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(31), zeros));
    const HVX_Vector both = Q6_V_vor_VV(Q6_Vw_vasl_VwVw(x.high, zeros), moved);
    const HVX_Vector high = Q6_V_vmux_QVV(low_only, Q6_Vw_vasl_VwVw(x.low, more), both);
    const HVX_Vector low = Q6_V_vmux_QVV(low_only, zero, Q6_Vw_vasl_VwVw(x.low, zeros));
    const HVX_Vector left = Q6_Vw_vadd_VwVw(zeros, Q6_V_vand_QV(low_only, more));
    const HVX_Vector kept = Q6_Vuw_vlsr_VuwR(high, 8);
    const HVX_VectorPred exact = Q6_Q_vcmp_eq_VwVw(low, zero);
    const HVX_Vector rest = Q6_V_vor_VV(Q6_V_vand_VV(high, Q6_V_vsplat_R(255)),
                                        Q6_V_vmux_QVV(exact, zero, one));
    const HVX_Vector up = Q6_Vw_vadd_VwVw(
        Q6_Vw_vadd_VwVw(rest, Q6_V_vand_VV(kept, one)), Q6_V_vsplat_R(127));
    const HVX_Vector rounded = Q6_Vw_vadd_VwVw(kept, Q6_Vuw_vlsr_VuwR(up, 8));
    const HVX_Vector exponent =
        Q6_Vw_vsub_VwVw(Q6_Vw_vadd_VwVw(unit, Q6_V_vsplat_R(EMBER_FLOAT_PLACES)), left);
    const HVX_Vector bits =
        Q6_Vw_vadd_VwVw(Q6_Vw_vasl_VwR(exponent, EMBER_SIGNIFICAND_BITS), rounded);
    return Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(high, zero), zero, bits);
}

// a * b + c, rounded once; c and the result are float32. For the ranges of factors and
// c see EMBER_FLOAT_LEAST. A sum of 0 is not negative.
//
// The product has 58 to 62 bits, and the unit of its high word is `unit`. c, of 28
// bits, is brought to that, unless it is so much larger that the product must give way:
// then, as when it is so much smaller, hardly anything cancels, and of the bits cut off
// it only matters whether there were any.
INLINE HVX_Vector ember_fma_hvx(const ember_float_hvx_t *a, const ember_float_hvx_t *b,
                                HVX_Vector c) {
    const HVX_Vector zero = Q6_V_vzero();
    const HVX_VectorPair even = Q6_W_vmpye_VwVuh(a->significand, b->significand);
    const HVX_VectorPair all =
        Q6_W_vmpyoacc_WVwVh(even, a->significand, b->significand);
    const HVX_Vector high = Q6_V_hi_W(all);
    const HVX_Vector unit =
        Q6_Vw_vadd_VwVw(Q6_Vw_vadd_VwVw(a->exponent, b->exponent), Q6_V_vsplat_R(32));
    const HVX_Vector twice = Q6_Vw_vasl_VwR(c, 1);
    const HVX_VectorPred absent = Q6_Q_vcmp_eq_VwVw(twice, zero);
    const HVX_Vector significand =
        Q6_V_vmux_QVV(absent, zero, Q6_Vuw_vlsr_VuwR(ember_significands_hvx(c), 3));
    const HVX_Vector exponent =
        Q6_Vw_vsub_VwVw(Q6_Vuw_vlsr_VuwR(twice, EMBER_SIGNIFICAND_BITS + 1),
                        Q6_V_vsplat_R(EMBER_FLOAT_PLACES - 3));
    const HVX_Vector apart = Q6_Vw_vsub_VwVw(exponent, unit);
    const HVX_Vector left = ember_within_hvx(apart, 3);
    const HVX_Vector right = ember_within_hvx(Q6_Vw_vsub_VwVw(zero, apart), 52);
    const HVX_Vector over =
        Q6_Vw_vmax_VwVw(Q6_Vw_vsub_VwVw(apart, Q6_V_vsplat_R(3)), zero);
    const HVX_Vector back = Q6_Vw_vmin_VwVw(over, Q6_V_vsplat_R(31));
    const HVX_Vector moved = Q6_Vw_vlsr_VwVw(high, back);
    const HVX_Vector lost = Q6_V_vxor_VV(high, Q6_Vw_vasl_VwVw(moved, back));
    const HVX_Vector sign = Q6_V_vxor_VV(a->sign, b->sign);
    const HVX_Vector other = Q6_V_vxor_VV(sign, Q6_Vw_vasr_VwR(c, 31));
    const ember_wide_hvx_t product = {moved, Q6_V_vor_VV(Q6_V_lo_W(all), lost)};
    const ember_wide_hvx_t sum = ember_wide_sum_hvx(
        product,
        ember_wide_signed_hvx(ember_wide_shifted_hvx(significand, left, right), other));
    const HVX_Vector turned = Q6_V_vand_VV(other, Q6_Vw_vasr_VwR(sum.high, 31));
    const HVX_Vector size = ember_wide_float_hvx(ember_wide_signed_hvx(sum, turned),
                                                 Q6_Vw_vadd_VwVw(unit, over));
    const HVX_Vector negative = Q6_Vw_vasl_VwR(Q6_V_vxor_VV(sign, turned), 31);
    const HVX_Vector result =
        Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(size, zero), zero, Q6_V_vor_VV(size, negative));
    const HVX_Vector addend = Q6_V_vmux_QVV(absent, zero, c);
    return Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(high, zero), addend, result);
}

#endif // EMBER_KERNELS_ENGINE_HVX_FLOAT_HVX_H
