// SPDX-License-Identifier: Apache-2.0
#include "dot.h"

static inline svint8_t word(const uint8_t *w,
                            svbool_t some) __arm_streaming __arm_preserves("za") {
    return svreinterpret_s8_u32(svld1_u32(some, (const uint32_t *)(const void *)w));
}

// Weights of four bits are multiplied by 16.
static inline svint32_t add(svint32_t sums, svint8_t w, svint8_t x,
                            bool four) __arm_streaming __arm_preserves("za") {
    if (!four) {
        return svdot_lane_s32(sums, w, x, 0);
    }
    const svint8_t low = svlsl_n_s8_x(svptrue_b8(), w, 4);
    const svint8_t high = svand_n_s8_x(svptrue_b8(), w, -16);
    return svdot_lane_s32(svdot_lane_s32(sums, low, x, 0), high, x, 1);
}

svint32x2_t xnn_sme_dot_block(const ember_xnn_sme_t *gemm, const uint8_t *w,
                              uint32_t columns,
                              svint32x2_t sums) __arm_streaming __arm_preserves("za") {
    const uint32_t words = (uint32_t)svcntw();
    const bool four = gemm->kind == XNN_SME_QD8_S4;
    const uint32_t step = four ? 8 : 4; // numbers of a word
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32(words, columns);
    const int8_t *a = gemm->a;
    uint32_t k = 0;
    if (columns == 2 * words) {
        const uint32_t steps = gemm->k / 16;
        sums = four ? xnn_sme_s4_dot(sums, a, w, steps)
                    : xnn_sme_s8_dot(sums, a, w, steps);
        k = 16 * steps;
        w += 4 * (size_t)columns * (k / step);
    }
    svint32_t s0 = svget2_s32(sums, 0);
    svint32_t s1 = svget2_s32(sums, 1);
    for (; k < gemm->k; k += step, w += 4 * (size_t)columns) {
        const svint8_t x = svld1rq_s8(svwhilelt_b8_u32(k, gemm->k), a + k);
        s0 = add(s0, word(w, c0), x, four);
        s1 = add(s1, word(w + 4 * words, c1), x, four);
    }
    return svcreate2_s32(s0, s1);
}
