// SPDX-License-Identifier: Apache-2.0
// Parts with sums that are rounded: blocks of weights are summed from zero and added
// one by one to XNNPACK's sums, which are kept in memory.
#include "groups.h"

// Half of the tiles to memory: added to what is there, or replacing it.
static inline __attribute__((always_inline)) void
put_half(const groups_t *groups, bool lower,
         bool add) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const uint32_t half = groups->most / 2;
    float *sums = groups->sums + (lower ? (size_t)half * 2 * half : 0);
    for (uint32_t i = 0; i < half; i += 4, sums += 8 * half) {
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j++) {
            svfloat32_t x0 = svreinterpret_f32_s32(sme_row(lower, false, i + j));
            svfloat32_t x1 = svreinterpret_f32_s32(sme_row(lower, true, i + j));
            if (add) {
                x0 = svadd_f32_x(all, svld1_vnum_f32(all, sums, 2 * j), x0);
                x1 = svadd_f32_x(all, svld1_vnum_f32(all, sums, 2 * j + 1), x1);
            }
            svst1_vnum_f32(all, sums, 2 * j, x0);
            svst1_vnum_f32(all, sums, 2 * j + 1, x1);
        }
    }
}

static inline __attribute__((always_inline)) void
put(const groups_t *groups, bool add) __arm_streaming __arm_inout("za") {
    put_half(groups, false, add);
    if (groups->rows > groups->most / 2) {
        put_half(groups, true, add);
    }
}

void xnn_sme_groups_load(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const uint32_t half = groups->most / 2;
    const float *sums = groups->sums;
    for (uint32_t i = 0; i < half; i++, sums += 2 * half) {
        svld1_hor_za32(0, i, all, sums);
        svld1_hor_vnum_za32(1, i, all, sums, 1);
    }
    for (uint32_t i = 0; i < half && groups->rows > half; i++, sums += 2 * half) {
        svld1_hor_za32(2, i, all, sums);
        svld1_hor_vnum_za32(3, i, all, sums, 1);
    }
}

// What a zero point of one adds with a block; the word that follows its weights.
static svfloat32_t lift_of(svint32_t word,
                           svfloat32_t scales) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svint32_t sum = svexth_s32_x(all, word);
    const svfloat32_t scale = svcvtlt_f32_f16_x(all, svreinterpret_f16_s32(word));
    return svmul_f32_x(all, svcvt_f32_s32_x(all, sum), svmul_f32_x(all, scale, scales));
}

static svfloat32x2_t block_lift(const groups_t *groups,
                                uint32_t k) __arm_streaming __arm_preserves("za") {
    const uint32_t block = groups->gemm->dynamic.block;
    const size_t word = xnn_sme_group_words(k, block) + block / 8;
    const svint32x2_t words =
        sme_ints((const int32_t *)(const void *)groups->from + word * groups->columns,
                 groups->columns);
    const svfloat32x2_t scales = sme_group_extra(groups, XNN_SME_GROUP_SCALE);
    return svcreate2_f32(lift_of(svget2_s32(words, 0), svget2_f32(scales, 0)),
                         lift_of(svget2_s32(words, 1), svget2_f32(scales, 1)));
}

// Whether sums of the blocks of a part are exact. They are at most twice its spread.
static bool exact_blocks(const groups_t *groups,
                         uint32_t part) __arm_streaming __arm_preserves("za") {
    enum { ALWAYS = 32 };
    if (groups->gemm->dynamic.block <= ALWAYS) {
        return true;
    }
    const svbool_t all = svptrue_b32();
    const svfloat32x2_t own = xnn_sme_groups_spread(groups, part);
    const svbool_t p0 = svcmple_n_f32(all, svget2_f32(own, 0), XNN_SME_GROUP_SURE);
    const svbool_t p1 = svcmple_n_f32(p0, svget2_f32(own, 1), XNN_SME_GROUP_SURE);
    return !svptest_any(all, svnot_b_z(all, p1));
}

bool xnn_sme_groups_blocks(const groups_t *groups, uint32_t k,
                           uint32_t end) __arm_streaming __arm_inout("za") {
    const uint32_t block = groups->gemm->dynamic.block;
    put(groups, false);
    for (; k < end; k += block) {
        if (!exact_blocks(groups, k / groups->part)) {
            return false;
        }
        svzero_za();
        xnn_sme_groups_multiply(groups, k, k + block);
        xnn_sme_groups_lift(groups, block_lift(groups, k));
        put(groups, true);
    }
    xnn_sme_groups_load(groups);
    return true;
}
