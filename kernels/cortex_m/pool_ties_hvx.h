// SPDX-License-Identifier: Apache-2.0
// Means of 2, 4 or 8 elements that are halfway between two integers, 32 at a time
// with HVX: which of these they become is what the roundings of float32 decide that
// quantized_avg_pool2d.h has.
//
// All sums of floats are multiples of the scale, but for what was rounded: that is
// tracked, in the last place of the scale's significand. The division by the scale
// gives the middle again unless the error exceeds half a step of floats there.
#ifndef EMBER_KERNELS_CORTEX_M_POOL_TIES_HVX_H
#define EMBER_KERNELS_CORTEX_M_POOL_TIES_HVX_H

#include "kernels/cortex_m/quantized_avg_pool2d.h"
#include "kernels/engine/hvx/scale_hvx.h"
#include "kernels/engine/mathf.h"

enum { EMBER_TIES_HVX = 8 };          // elements of a window, at most
enum { EMBER_TIES_LOW_HVX = 9 };      // bits of the low part of a significand
enum { EMBER_TIES_LEADING_HVX = 17 }; // zeros before a sum without it that has 24 bits

// The significand of a scale, and its two parts, each twice in a word.
typedef struct ember_ties_hvx {
    HVX_Vector significand;
    int32_t high;
    int32_t low;
} ember_ties_hvx_t;

static inline ember_ties_hvx_t ember_ties_hvx(float scale) {
    const uint32_t leading = UINT32_C(1) << 23;
    const uint32_t all = (ember_float_bits(scale) & (leading - 1)) | leading;
    const uint32_t high = all >> EMBER_TIES_LOW_HVX;
    const uint32_t low = all & ((1u << EMBER_TIES_LOW_HVX) - 1);
    return (ember_ties_hvx_t){Q6_V_vsplat_R((int32_t)all), (int32_t)(high << 16 | high),
                              (int32_t)(low << 16 | low)};
}

// What rounding to float32 adds to `sum` significands and `error`, of which only the
// last 32 bits and the size matter.
INLINE HVX_Vector ember_ties_rounding_hvx(const ember_ties_hvx_t *by, HVX_Vector sum,
                                          HVX_Vector error) {
    const HVX_Vector one = Q6_V_vsplat_R(1);
    const HVX_Vector zero = Q6_V_vzero();
    const HVX_Vector high = Q6_Vw_vmpyi_VwRh(sum, by->high);
    const HVX_Vector low = Q6_Vw_vadd_VwVw(Q6_Vw_vmpyi_VwRh(sum, by->low), error);
    const HVX_Vector all =
        Q6_Vw_vadd_VwVw(Q6_Vw_vasl_VwR(high, EMBER_TIES_LOW_HVX), low);
    const HVX_Vector leading =
        Q6_Vw_vadd_VwVw(high, Q6_Vw_vasr_VwR(low, EMBER_TIES_LOW_HVX));
    const HVX_Vector size = Q6_V_vxor_VV(leading, Q6_Vw_vasr_VwR(leading, 31));
    const HVX_Vector bits = Q6_Vw_vmax_VwVw(
        Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(EMBER_TIES_LEADING_HVX), Q6_Vuw_vcl0_Vuw(size)),
        zero);
    const HVX_Vector odd = Q6_V_vand_VV(Q6_Vw_vasr_VwVw(all, bits), one);
    const HVX_Vector half = Q6_Vuw_vlsr_VuwR(Q6_Vw_vasl_VwVw(one, bits), 1);
    const HVX_Vector up =
        Q6_Vw_vmax_VwVw(Q6_Vw_vsub_VwVw(Q6_Vw_vadd_VwVw(half, odd), one), zero);
    const HVX_Vector kept = Q6_Vw_vasr_VwVw(Q6_Vw_vadd_VwVw(all, up), bits);
    return Q6_Vw_vsub_VwVw(Q6_Vw_vasl_VwVw(kept, bits), all);
}

// The means, without the zero point, of sums whose errors are known; `count` is 1
// shifted by `places`.
INLINE HVX_Vector ember_ties_means_hvx(const ember_ties_hvx_t *by, HVX_Vector sum,
                                       HVX_Vector error, int32_t places) {
    const HVX_Vector one = Q6_V_vsplat_R(1);
    const HVX_Vector half = Q6_V_vsplat_R(1 << (places - 1));
    const HVX_Vector sign = Q6_Vw_vasr_VwR(sum, 31);
    const HVX_Vector size = Q6_Vw_vsub_VwVw(Q6_V_vxor_VV(sum, sign), sign);
    const HVX_Vector error_sign = Q6_Vw_vasr_VwR(error, 31);
    const HVX_Vector error_size =
        Q6_Vw_vsub_VwVw(Q6_V_vxor_VV(error, error_sign), error_sign);
    // A step is half as large from 0.5 towards 0.
    const HVX_Vector least = Q6_V_vand_QV(Q6_Q_vcmp_eq_VwVw(size, half), one);
    const HVX_Vector smaller = Q6_V_vand_VV(least, Q6_V_vxor_VV(error_sign, sign));
    const HVX_Vector shift = Q6_Vw_vadd_VwVw(
        Q6_Vw_vsub_VwVw(Q6_Vuw_vcl0_Vuw(size), Q6_V_vsplat_R(7)), smaller);
    const HVX_Vector most = Q6_Vw_vasr_VwVw(by->significand, shift);
    const HVX_Vector moves = Q6_Vw_vasr_VwR(Q6_Vw_vsub_VwVw(most, error_size), 31);
    const HVX_Vector mean = Q6_Vw_vasr_VwR(Q6_Vw_vsub_VwVw(sum, half), places);
    const HVX_Vector even = Q6_V_vand_VV(mean, one);
    const HVX_Vector up = Q6_Vw_vadd_VwVw(one, error_sign); // 1, or 0 where negative
    const HVX_VectorPred stays = Q6_Q_vcmp_eq_VwVw(moves, Q6_V_vzero());
    return Q6_Vw_vadd_VwVw(mean, Q6_V_vmux_QVV(stays, even, up));
}

#endif // EMBER_KERNELS_CORTEX_M_POOL_TIES_HVX_H
