// SPDX-License-Identifier: Apache-2.0
// Static int8 elements with HVX: float32 to int8, and int8 to int8 by a table of all
// 256 values.
#ifndef EMBER_XNNPACK_HVX_ELEMENTS_H
#define EMBER_XNNPACK_HVX_ELEMENTS_H

#include "backends/xnnpack/nodes/elements.h"
#include "kernels/engine/hvx/table_hvx.h"
#include "requantise_hvx.h"

// The factor of float32 values: a positive normal number.
typedef struct xnn_hvx_factor {
    HVX_Vector significand;
    HVX_Vector right; // right shift of a product for exponent 0
} xnn_hvx_factor_t;

// The high word of the product has units of 2^18 times those of both factors, whose
// exponents are biased by 150.
enum { XNN_HVX_FACTOR_PLACES = 2 * 150 - 18 };

INLINE xnn_hvx_factor_t xnn_hvx_factor(float factor) {
    const uint32_t bits = ember_float_bits(factor);
    const int32_t exponent = (int32_t)(bits >> EMBER_SIGNIFICAND_BITS);
    return (xnn_hvx_factor_t){ember_significands_hvx(Q6_V_vsplat_R((int32_t)bits)),
                              Q6_V_vsplat_R(XNN_HVX_FACTOR_PLACES - exponent)};
}

// The nearest integers; for NaN less than any int8.
INLINE HVX_Vector xnn_hvx_quantised(HVX_Vector x, const xnn_hvx_factor_t *by) {
    const HVX_Vector twice = Q6_Vw_vasl_VwR(x, 1);
    const HVX_Vector exponent = Q6_Vuw_vlsr_VuwR(twice, EMBER_SIGNIFICAND_BITS + 1);
    const HVX_Vector product =
        ember_product_hvx(ember_significands_hvx(x), by->significand);
    const HVX_Vector size =
        ember_nearest_hvx(product, Q6_Vw_vsub_VwVw(by->right, exponent));
    const HVX_Vector infinite = Q6_V_vsplat_R((int32_t)0xff000000);
    return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(twice, infinite),
                         Q6_V_vsplat_R(-(1 << 20)),
                         ember_signed_hvx(size, Q6_Vw_vasr_VwR(x, 31)));
}

// Quantises `count` float32.
static inline void xnn_hvx_quantise(const float *x, uint32_t count, float factor,
                                    const ember_xnn_range_t *range, int8_t *y) {
    const xnn_hvx_factor_t by = xnn_hvx_factor(factor);
    const xnn_hvx_bounds_t bounds = xnn_hvx_bounds(range);
    for (int32_t left = (int32_t)count; left > 0; left -= EMBER_HVX) {
        HVX_Vector words[4];
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) {
            const int32_t bytes = ember_hvx_hidden((left - i * 32) * 4);
            words[i] = Q6_V_vzero();
            if (bytes > 0) {
                words[i] = xnn_hvx_quantised(
                    ember_load_left_hvx((const int8_t *)(x + i * 32), bytes), &by);
            }
        }
        ember_store_left_hvx(y, xnn_hvx_bytes(words, &bounds), left);
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
}

// --- tables --------------------------------------------------------------------------

enum { XNN_HVX_TABLE = 256 };

// All int8 values, ascending.
static inline void xnn_hvx_all_bytes(int8_t *to) {
    for (int i = 0; i < XNN_HVX_TABLE; i++) {
        to[i] = (int8_t)(i + INT8_MIN);
    }
}

#endif // EMBER_XNNPACK_HVX_ELEMENTS_H
