// SPDX-License-Identifier: Apache-2.0
// Contract: quantize_lines_hvx.h.
//
// With scales of float32, those of tokens round the sum with the zero point to float32
// before it becomes an integer. With scales of float64 products have 31 bits here, and
// elements that lie too near to the middle between two integers are computed again.
#include "kernels/quantized/quantize_lines_hvx.h"

#include <math.h>
#include <string.h>

#include "kernels/engine/hvx/ending_hvx.h"
#include "kernels/quantized/lines_hvx.h"
#include "kernels/quantized/quantize_hvx.h"

// Of a fraction of 31 bits: a half, and more than the error of one that is not of a
// number beyond int8.
enum { HALF = 1 << 30, ERROR = 1 << 15 };

// --- scales of float32 ---------------------------------------------------------------

// A sum of `size` has that many bits before the point, and 24 together; less than 1 is
// rounded like what follows 1: 0 and 1 are the same distance from a half either way.
INLINE HVX_Vector token(const ember_quantize_hvx_t *by, HVX_Vector x) {
    const HVX_Vector one = Q6_V_vsplat_R(1);
    const HVX_Vector sign = Q6_Vw_vasr_VwR(x, 31);
    const ember_quotient_hvx_t quotient = ember_quotient_hvx(by, x);
    const HVX_Vector product = ember_cut_hvx(quotient.product);
    const HVX_Vector zero_point =
        Q6_Vw_vsub_VwVw(by->zero_point, by->nothing); // of uint8 as it is
    const HVX_Vector whole = Q6_Vw_vadd_VwVw(Q6_Vw_vlsr_VwVw(product, quotient.right),
                                             ember_signed_hvx(zero_point, sign));
    const HVX_Vector size = Q6_V_vxor_VV(whole, Q6_Vw_vasr_VwR(whole, 31));
    const HVX_Vector lost =
        Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(39), Q6_Vuw_vcl0_Vuw(size)); // 7 and more
    const HVX_Vector half =
        Q6_Vw_vsub_VwVw(Q6_Vw_vasl_VwVw(one, Q6_Vw_vsub_VwVw(lost, one)), one);
    const HVX_Vector fraction = Q6_Vw_vasl_VwVw(
        ember_rounded_hvx(ember_fraction_hvx(product, quotient.right), lost, half),
        lost);
    const HVX_Vector up =
        Q6_Vw_vadd_VwVw(Q6_V_vsplat_R(HALF - 1), Q6_V_vand_VV(whole, one));
    const HVX_Vector carry = Q6_Vuw_vlsr_VuwR(Q6_Vw_vadd_VwVw(fraction, up), 31);
    const HVX_Vector sum = ember_signed_hvx(Q6_Vw_vadd_VwVw(whole, carry), sign);
    return ember_unless_nan_hvx(by, x, Q6_Vw_vadd_VwVw(sum, by->nothing));
}

// --- scales of float64 ---------------------------------------------------------------

// What computes elements again.
typedef struct exact {
    ember_quantize_to_hvx_t to;
    double factor;
    bool token; // rounds after adding the zero point
} exact_t;

static void quantize_again(const exact_t *s, const float *x, int32_t count, int8_t *y) {
    const double zero = (double)s->to.zero_point;
    for (int32_t i = 0; i < count; i++) {
        const double scaled = (double)x[i] * s->factor;
        const double number =
            s->token ? nearbyint(scaled + zero) : nearbyint(scaled) + zero;
        const double least = number < s->to.low ? s->to.low : number;
        const double most = least > s->to.high ? s->to.high : least;
        const int32_t whole = number != number ? 0 : (int32_t)most;
        y[i] = (int8_t)whole;
    }
}

// Words, and the least `distance` from the middle of its fractions and those before.
INLINE HVX_Vector nearly(const ember_quantize_hvx_t *by, HVX_Vector x,
                         HVX_Vector *distance) {
    const ember_quotient_hvx_t quotient = ember_quotient_hvx(by, x);
    const HVX_Vector fraction = ember_fraction_hvx(quotient.product, quotient.right);
    const HVX_Vector apart = Q6_Vw_vsub_VwVw(fraction, Q6_V_vsplat_R(HALF));
    const HVX_Vector size =
        Q6_Vw_vadd_VwVw(Q6_Vw_vlsr_VwVw(quotient.product, quotient.right),
                        Q6_Vuw_vlsr_VuwR(fraction, 30));
    const HVX_Vector number = ember_signed_hvx(size, Q6_Vw_vasr_VwR(x, 31));

    *distance =
        Q6_Vw_vmin_VwVw(*distance, Q6_V_vxor_VV(apart, Q6_Vw_vasr_VwR(apart, 31)));
    return ember_unless_nan_hvx(by, x, Q6_Vw_vadd_VwVw(number, by->zero_point));
}

// 128 elements, or the `left` that exist.
INLINE void quantize_block(const float *x, int32_t left, const ember_quantize_hvx_t *by,
                           const exact_t *exact, int8_t *y) {
    HVX_Vector distance = Q6_V_vsplat_R(HALF), words[4];

    EMBER_HVX_UNROLL
    for (int i = 0; i < 4; i++) {
        const int32_t bytes = ember_hvx_hidden((left - i * 32) * 4);
        words[i] = Q6_V_vzero();
        if (bytes >= EMBER_HVX) {
            words[i] = nearly(by, ember_hvx_load_any(x + i * 32), &distance);
        } else if (bytes > 0) {
            const HVX_Vector some = ember_hvx_load_part(x + i * 32, bytes);
            words[i] = nearly(by, Q6_V_vand_QV(Q6_Q_vsetq_R(bytes), some), &distance);
        }
    }
    ember_store_left_hvx(y, ember_quantize_bytes_hvx(by, words), left);
    if (ember_is_any_below_hvx(distance, ERROR)) {
        quantize_again(exact, x, left < EMBER_HVX ? left : EMBER_HVX, y);
    }
}

static void quantize_wide(const float *x, uint32_t count, double scale,
                          const ember_quantize_to_hvx_t *to, bool is_token, int8_t *y) {
    const exact_t exact = {*to, 1.0 / scale, is_token};
    uint64_t bits;
    memcpy(&bits, &exact.factor, sizeof(bits));
    const uint32_t significand = (uint32_t)(bits >> (52 - 30)) & (HALF - 1u);
    const int32_t exponent = (int32_t)(bits >> 52) - 1023;
    const ember_quantize_hvx_t by =
        ember_quantize_scaled_hvx(significand | HALF, exponent, to);

    for (int32_t left = (int32_t)count; left > 0; left -= EMBER_HVX) {
        quantize_block(x, left, &by, &exact, y);
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
}

// --- lines ---------------------------------------------------------------------------

static bool takes_line(const ember_affine_t *s, const ember_line_hvx_t *line) {
    return line->scale > 0x1p-115 && line->scale < 0x1p115 &&
           ember_line_hvx_is_near(s, line, EMBER_AFFINE_Y);
}

static bool compute(const ember_affine_t *s, const ember_line_hvx_t *line) {
    const bool wide = s->class == EMBER_CLASS_F64;
    const bool is_token = s->form == EMBER_AFFINE_TOKEN;
    const float *x = (const float *)(const void *)line->x;
    int8_t *y = (int8_t *)line->y;
    const ember_quantize_to_hvx_t to = {
        (int32_t)line->zero_point,
        wide ? (int32_t)s->low.f64 : (int32_t)s->low.f32,
        wide ? (int32_t)s->high.f64 : (int32_t)s->high.f32,
        s->dtypes[EMBER_AFFINE_Y] == EMBER_U8,
    };

    if (wide) {
        quantize_wide(x, line->count, line->scale, &to, is_token, y);
        return true;
    }
    const ember_quantize_hvx_t by =
        ember_quantize_by_hvx(1.0f / (float)line->scale, &to);
    if (is_token) {
        ember_quantize_all_hvx(x, line->count, &by, y, token);
    } else {
        ember_quantize_hvx(x, line->count, &by, y);
    }
    return true;
}

void ember_quantize_lines_hvx_run(const ember_affine_t *s) {
    if (!ember_lines_hvx_run(s, takes_line, compute)) {
        ember_quantize_run(s);
    }
}

// Between which 0 is.
static bool is_around(const ember_affine_t *s) {
    return s->class == EMBER_CLASS_F64 ? s->low.f64 <= 0.0 && s->high.f64 >= 0.0
                                       : s->low.f32 <= 0.0f && s->high.f32 >= 0.0f;
}

ember_status_t ember_quantize_lines_hvx_prepare(ember_affine_t *s, ember_node_t *node,
                                                ember_affine_form_t form) {
    const ember_status_t status = ember_quantize_prepare(s, node, form);

    if (status != EMBER_OK) {
        return status;
    }
    return ember_lines_hvx_fit(s, EMBER_AFFINE_Y, EMBER_AFFINE_X) && is_around(s)
               ? EMBER_OK
               : ember_node_fail(node, EMBER_UNSUPPORTED, "quantize_hvx: not lines");
}
