// SPDX-License-Identifier: Apache-2.0
// int32 sums become static int8 with HVX: to float32, times a scale, both rounded, then
// to the nearest integer, like xnn_quantize().
#ifndef EMBER_XNNPACK_HVX_REQUANTISE_H
#define EMBER_XNNPACK_HVX_REQUANTISE_H

#include "backends/xnnpack/nodes/numbers.h"
#include "kernels/engine/hvx/float_hvx.h"

// The factors of 32 sums: positive normal numbers.
typedef struct xnn_hvx_scales {
    HVX_Vector significands;
    HVX_Vector right; // right shift of a product whose sum has no leading zeros
} xnn_hvx_scales_t;

enum { XNN_HVX_PLACES = 124 }; // of a product's bits and of the exponent's bias

static inline bool xnn_hvx_is_scale(float scale) {
    return scale >= 0x1p-126f && scale < EMBER_INF;
}

INLINE xnn_hvx_scales_t xnn_hvx_scales(HVX_Vector scales) {
    const HVX_Vector exponents = Q6_Vuw_vlsr_VuwR(scales, EMBER_SIGNIFICAND_BITS);
    return (xnn_hvx_scales_t){
        ember_significands_hvx(scales),
        Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(XNN_HVX_PLACES), exponents)};
}

// Without the zero point.
INLINE HVX_Vector xnn_hvx_scaled(HVX_Vector sums, const xnn_hvx_scales_t *by) {
    const ember_number_hvx_t number = ember_number_hvx(sums);
    const HVX_Vector product = ember_product_hvx(number.significand, by->significands);
    const HVX_Vector right = Q6_Vw_vadd_VwVw(by->right, number.zeros);
    return ember_signed_hvx(ember_nearest_hvx(product, right), number.sign);
}

// Bounds of the output.
typedef struct xnn_hvx_bounds {
    HVX_Vector zero;
    HVX_Vector low;
    HVX_Vector high;
} xnn_hvx_bounds_t;

INLINE xnn_hvx_bounds_t xnn_hvx_bounds(const ember_xnn_range_t *range) {
    return (xnn_hvx_bounds_t){Q6_V_vsplat_R(range->zero),
                              Q6_Vb_vsplat_R((int32_t)range->low + range->zero),
                              Q6_Vb_vsplat_R((int32_t)range->high + range->zero)};
}

// Four vectors of such numbers as int8.
INLINE HVX_Vector xnn_hvx_bytes(const HVX_Vector *words,
                                const xnn_hvx_bounds_t *bounds) {
    const HVX_Vector zero = bounds->zero;
    const HVX_Vector bytes = ember_bytes_hvx(
        Q6_Vw_vadd_VwVw(words[0], zero), Q6_Vw_vadd_VwVw(words[1], zero),
        Q6_Vw_vadd_VwVw(words[2], zero), Q6_Vw_vadd_VwVw(words[3], zero));
    return Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, bounds->low), bounds->high);
}

#endif // EMBER_XNNPACK_HVX_REQUANTISE_H
