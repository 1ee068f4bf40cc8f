// SPDX-License-Identifier: Apache-2.0
// Products of one row of int8: sums of four, without tiles.
#ifndef EMBER_XNNPACK_SME_DOT_H
#define EMBER_XNNPACK_SME_DOT_H

#include "block.h"

// Sums of a column block, from `sums` on.
svint32x2_t xnn_sme_dot_block(const ember_xnn_sme_t *gemm, const uint8_t *w,
                              uint32_t columns,
                              svint32x2_t sums) __arm_streaming __arm_preserves("za");

// Stores two vectors at index `at` of y, as float32 or float16.
static inline void sme_put(const ember_xnn_sme_t *gemm, size_t at, svfloat32_t left,
                           svfloat32_t right, svbool_t c0,
                           svbool_t c1) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    if (!gemm->dynamic.half_out) {
        svst1_f32(c0, (float *)gemm->y + at, left);
        svst1_vnum_f32(c1, (float *)gemm->y + at, 1, right);
        return;
    }
    uint16_t *y = (uint16_t *)gemm->y + at;
    svst1h_u32(c0, y, svreinterpret_u32_f16(svcvt_f16_f32_x(all, left)));
    svst1h_vnum_u32(c1, y, 1, svreinterpret_u32_f16(svcvt_f16_f32_x(all, right)));
}

#endif // EMBER_XNNPACK_SME_DOT_H
