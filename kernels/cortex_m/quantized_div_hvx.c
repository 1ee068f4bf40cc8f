// SPDX-License-Identifier: Apache-2.0
// quantized_div with HVX, 32 elements at a time, in integer arithmetic: the bits of
// float32. Contract and formula: quantized_div.h.
//
// Without their signs, both operands have 16 bits, and start with a one after a shift.
// A reciprocal, refined three times, gives 25 bits of their quotient, of which the last
// may be one too many; the remainder tells. No quotient is the middle between two of
// 24 bits, since a divisor has fewer.
#include "kernels/cortex_m/pair_s16.h"
#include "kernels/cortex_m/quantized_div.h"
#include "kernels/engine/hvx/float_hvx.h"
#include "kernels/engine/mathf.h"

enum { FEW = 6 };     // elements of a row; portable C takes fewer packets
enum { PLACES = 29 }; // of fractions: of a reciprocal, of a first quotient
enum { BIAS = 127 };  // of a float's exponent
// 1 / x is nearly 48 / 17 - x * 32 / 17 if x is from a half to one.
enum { GUESS = 0x5A5A5A5A, GUESS_LESS = 0x3C3C3C3C };
enum { ABOVE = 4 }; // makes reciprocals too large rather than too small

// Results of smaller scales are 0, too.
#define LEAST_SCALE 0x1p-40f

// What is the same for all elements.
typedef struct by {
    HVX_Vector a_zero;
    HVX_Vector b_zero;
    HVX_Vector y_zero;
    HVX_Vector scale; // its significand, from 2^30 to 2^31
    HVX_Vector right; // right shift of a product for operands that are not shifted
    HVX_Vector sign;  // of the scale
} by_t;

static by_t by_of(const ember_div_s8_t *s) {
    const float size = ember_fabsf(s->scale);
    const uint32_t bits = ember_float_bits(size > LEAST_SCALE ? size : LEAST_SCALE);
    const int32_t exponent = (int32_t)(bits >> EMBER_SIGNIFICAND_BITS) - BIAS;
    return (by_t){
        .a_zero = Q6_V_vsplat_R(s->a_zero),
        .b_zero = Q6_V_vsplat_R(s->b_zero),
        .y_zero = Q6_V_vsplat_R((int32_t)s->y_zero),
        .scale = ember_significands_hvx(Q6_V_vsplat_R((int32_t)bits)),
        .right = Q6_V_vsplat_R(PLACES - exponent),
        .sign = Q6_V_vsplat_R(s->scale < 0.0f ? -1 : 0),
    };
}

// y += y * (1 - x * y), of which the last factor is below 2^-`zeros`.
INLINE HVX_Vector refined(HVX_Vector y, HVX_Vector x, int32_t zeros) {
    const HVX_Vector one = Q6_V_vsplat_R(1 << PLACES);
    const HVX_Vector error = Q6_Vw_vsub_VwVw(one, Q6_Vw_vmpye_VwVuh(y, x));
    const HVX_Vector more =
        Q6_Vw_vmpyo_VwVh_s1_sat(y, Q6_Vw_vasl_VwR(error, zeros + 2));
    return Q6_Vw_vasracc_VwVwR(y, more, zeros);
}

// 1 / x, at most 2^-25 of it too large; x is from a half to one, of 16 bits.
INLINE HVX_Vector reciprocal(HVX_Vector x) {
    const HVX_Vector less = Q6_Vw_vmpye_VwVuh(Q6_V_vsplat_R(GUESS_LESS), x);
    HVX_Vector y = Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(GUESS), less);
    y = refined(y, x, 3);
    y = refined(y, x, 7);
    y = refined(y, x, 15);
    return Q6_Vw_vadd_VwVw(y, Q6_V_vsplat_R(ABOVE));
}

// n / d as float32: its significand, from 2^30 to 2^31, and whether n >= d, as 1 or 0.
// d is from 2^15 to 2^16, n as well, or 0, for which the significand is 0.
INLINE HVX_Vector ratio(HVX_Vector n, HVX_Vector d, HVX_Vector *large) {
    const HVX_Vector first = Q6_Vw_vmpye_VwVuh(reciprocal(d), n);
    *large = Q6_Vuw_vlsr_VuwR(first, PLACES);
    const HVX_Vector bits = Q6_Vw_vadd_VwVw(Q6_V_vsplat_R(PLACES - 25), *large);
    const HVX_Vector quotient = Q6_Vw_vlsr_VwVw(first, bits);
    const HVX_Vector all =
        Q6_Vw_vasl_VwVw(n, Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(PLACES), bits));
    const HVX_Vector rest = Q6_Vw_vsub_VwVw(all, Q6_Vw_vmpyie_VwVuh(quotient, d));
    const HVX_Vector exact = Q6_Vw_vasracc_VwVwR(quotient, rest, 31);
    return Q6_Vw_vasl_VwR(Q6_Vw_vavg_VwVw_rnd(exact, Q6_V_vzero()), 7);
}

// 32 results, which may be beyond int16. Where b is its zero point, a is taken for its
// own.
INLINE HVX_Vector quotients(const by_t *by, HVX_Vector a, HVX_Vector b) {
    const HVX_Vector zero = Q6_V_vzero();
    const HVX_Vector under = Q6_Vw_vsub_VwVw(b, by->b_zero);
    const HVX_Vector over = Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(under, zero), zero,
                                          Q6_Vw_vsub_VwVw(a, by->a_zero));
    const HVX_Vector n = Q6_Vw_vabs_Vw(over);
    const HVX_Vector d = Q6_Vw_vabs_Vw(under);
    const HVX_Vector n_zeros = Q6_Vuh_vcl0_Vuh(n); // the same 16 in all upper halves
    const HVX_Vector d_zeros = Q6_Vuh_vcl0_Vuh(d);
    HVX_Vector large;
    const HVX_Vector significand =
        ratio(Q6_Vh_vasl_VhVh(n, n_zeros), Q6_Vh_vasl_VhVh(d, d_zeros), &large);
    const HVX_Vector left = Q6_Vw_vadd_VwVw(Q6_Vw_vsub_VwVw(d_zeros, n_zeros), large);
    const HVX_Vector size = ember_nearest_hvx(ember_product_hvx(significand, by->scale),
                                              Q6_Vw_vsub_VwVw(by->right, left));
    const HVX_Vector sign = Q6_V_vxor_VV(Q6_V_vxor_VV(over, under), by->sign);
    return Q6_Vw_vadd_VwVw(ember_signed_hvx(size, Q6_Vw_vasr_VwR(sign, 31)),
                           by->y_zero);
}

// The same of 64 int16.
INLINE HVX_Vector halves(const by_t *by, HVX_Vector a, HVX_Vector b) {
    const HVX_VectorPair first = Q6_Ww_vunpack_Vh(a);
    const HVX_VectorPair second = Q6_Ww_vunpack_Vh(b);
    const HVX_Vector low = quotients(by, Q6_V_lo_W(first), Q6_V_lo_W(second));
    const HVX_Vector high = quotients(by, Q6_V_hi_W(first), Q6_V_hi_W(second));
    return Q6_Vh_vpack_VwVw_sat(high, low);
}

static void row_s8(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                   uint32_t count) {
    const by_t by = by_of(state);

    for (int32_t left = (int32_t)count; left > 0; left -= EMBER_HVX) {
        const HVX_VectorPair first = Q6_Wh_vunpack_Vb(ember_load_left_hvx(a, left));
        const HVX_VectorPair second = Q6_Wh_vunpack_Vb(ember_load_left_hvx(b, left));
        const HVX_Vector low = halves(&by, Q6_V_lo_W(first), Q6_V_lo_W(second));
        const HVX_Vector high = halves(&by, Q6_V_hi_W(first), Q6_V_hi_W(second));
        ember_store_left_hvx(y, Q6_Vb_vpack_VhVh_sat(high, low), left);
        a += EMBER_HVX;
        b += EMBER_HVX;
        y += EMBER_HVX;
    }
}

static void row_s16(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                    uint32_t count) {
    const by_t by = by_of(state);

    for (int32_t left = (int32_t)(2 * count); left > 0; left -= EMBER_HVX) {
        const HVX_Vector first = ember_load_left_hvx(a, left);
        const HVX_Vector second = ember_load_left_hvx(b, left);
        ember_store_left_hvx(y, halves(&by, first, second), left);
        a += EMBER_HVX;
        b += EMBER_HVX;
        y += EMBER_HVX;
    }
}

static int32_t run(void *state) {
    return ember_div_s8_run(state, row_s8, row_s16);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_div_s8_t *s = state;
    const ember_status_t status = ember_div_s8_prepare(node, state);

    if (status == EMBER_OK &&
        (s->pair.count < FEW ||
         (!ember_pair_s8_dense(&s->pair) && !ember_pair_s16_dense(&s->pair)))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "quantized_div_hvx: few, or steps");
    }
    return status;
}

EMBER_KERNEL(quantized_div_hvx, ember_div_s8_t);
