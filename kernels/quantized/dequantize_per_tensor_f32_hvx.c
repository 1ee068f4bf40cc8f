// SPDX-License-Identifier: Apache-2.0
// dequantize_per_tensor with Hexagon's vectors of integers: int8 to float32, 128
// numbers at a time. Contract: dequantize_per_tensor_f32.h.
//
// A number less the zero point has 9 bits, and its product with the significand of the
// scale 32: it is rounded to 24 of these, halves to even.
#include "kernels/cortex_m/scale_hvx.h"
#include "kernels/engine/mathf.h"
#include "kernels/quantized/dequantize_per_tensor_f32.h"

enum { SIGNIFICAND_BITS = 23, FEW = 32 };
#define SCALE_MIN 0x1p-126f
#define SCALE_MAX 0x1p118f // a product is finite

typedef struct scale {
    HVX_Vector zero_point; // halves
    HVX_Vector significand;
    HVX_Vector exponent; // of the product whose first bit is set, less one
} scale_t;

static scale_t scale_of(const ember_affine_f32_t *s) {
    const uint32_t bits = ember_float_bits(s->factor);
    const uint32_t leading = UINT32_C(1) << SIGNIFICAND_BITS;
    const uint32_t significand = (bits & (leading - 1)) | leading;
    const int32_t exponent = (int32_t)(bits >> SIGNIFICAND_BITS);
    return (scale_t){Q6_Vh_vsplat_R((int32_t)s->zero_point),
                     Q6_V_vsplat_R((int32_t)significand), Q6_V_vsplat_R(exponent + 7)};
}

// Rounding may carry into the exponent, which is right.
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
        Q6_Vw_vadd_VwVw(Q6_Vw_vasl_VwR(exponent, SIGNIFICAND_BITS), rounded);
    const HVX_Vector signed_bits = Q6_V_vor_VV(bits, Q6_Vw_vasl_VwR(sign, 31));
    return Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(x, zero), zero, signed_bits);
}

static void run_few(const ember_affine_f32_t *s) {
    const int8_t *x = s->x;
    float *y = s->y;

    for (uint32_t i = 0; i < s->count; i++) {
        y[i] = ((float)x[i] - s->zero_point) * s->factor;
    }
}

static int32_t run(void *state) {
    const ember_affine_f32_t *s = state;
    const scale_t by = scale_of(s);
    const int8_t *x = s->x;
    float *y = s->y;

    if (s->count < FEW) {
        run_few(s);
        return EMBER_OK;
    }
    for (int32_t left = (int32_t)s->count; left > 0; left -= EMBER_HVX) {
        HVX_Vector words[4];
        ember_words_hvx(ember_load_left_hvx(x, left), by.zero_point, words);
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) {
            const int32_t bytes = (left - i * 32) * 4;
            if (bytes > 0) {
                ember_store_left_hvx((int8_t *)(y + i * 32), dequantized(&by, words[i]),
                                     bytes);
            }
        }
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_affine_f32_t *s = state;
    const ember_status_t status = ember_dequantize_f32_prepare(node, state);

    if (status != EMBER_OK) {
        return status;
    }
    if (s->integers != EMBER_S8 || s->scale != NULL || s->zero != NULL ||
        !(s->factor >= SCALE_MIN) || !(s->factor <= SCALE_MAX) ||
        !(s->zero_point >= (float)INT8_MIN) || !(s->zero_point <= (float)INT8_MAX) ||
        s->count > 1 << 28) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "dequantize_hvx: not int8");
    }
    return EMBER_OK;
}

EMBER_KERNEL(dequantize_per_tensor_f32_hvx, ember_affine_f32_t);
