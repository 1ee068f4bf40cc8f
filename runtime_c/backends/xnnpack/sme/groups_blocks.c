// SPDX-License-Identifier: Apache-2.0
// Parts of sums that are rounded: blocks of weights are summed from zero and added to
// XNNPACK's sums, which are in memory meanwhile, one by one.
#include "groups.h"

// Half of the tiles to memory, plus zero points times `more` of columns: added to what
// is there, or in its place.
static inline __attribute__((always_inline)) void
add_half(const groups_t *groups, bool lower, svfloat32x2_t more,
         bool there) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const uint32_t half = groups->most / 2;
    const uint32_t first = lower ? half : 0;
    const uint32_t left = groups->rows > first ? groups->rows - first : 0;
    const uint32_t rows = left < half ? left : half;
    const float *zeros = groups->zeros + groups->row + first;
    float *sums = groups->sums + (size_t)first * 2 * half;
#pragma clang loop unroll_count(4)
    for (uint32_t i = 0; i < rows; i++, sums += 2 * half) {
        svfloat32_t x0 = svreinterpret_f32_s32(sme_row(lower, false, i));
        svfloat32_t x1 = svreinterpret_f32_s32(sme_row(lower, true, i));
        x0 = svmla_n_f32_x(all, x0, svget2_f32(more, 0), zeros[i]);
        x1 = svmla_n_f32_x(all, x1, svget2_f32(more, 1), zeros[i]);
        if (there) {
            x0 = svadd_f32_x(all, svld1_f32(all, sums), x0);
            x1 = svadd_f32_x(all, svld1_vnum_f32(all, sums, 1), x1);
        }
        svst1_f32(all, sums, x0);
        svst1_vnum_f32(all, sums, 1, x1);
    }
}

// Memory to tiles, without zero points times `start`. No: that was rounded.
static bool load_tiles(const groups_t *groups,
                       svfloat32x2_t start) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const uint32_t half = groups->most / 2;
    const svfloat32_t u0 = svget2_f32(start, 0);
    const svfloat32_t u1 = svget2_f32(start, 1);
    const float *sums = groups->sums;
    svbool_t other = svpfalse_b();
    svzero_za();
    for (uint32_t i = 0; i < groups->rows; i++, sums += 2 * half) {
        const float zero = groups->zeros[groups->row + i];
        const svfloat32_t t0 = svld1_f32(all, sums);
        const svfloat32_t t1 = svld1_vnum_f32(all, sums, 1);
        const svfloat32_t x0 = svmls_n_f32_x(all, t0, u0, zero);
        const svfloat32_t x1 = svmls_n_f32_x(all, t1, u1, zero);
        const svfloat32_t y0 = svmla_n_f32_x(all, x0, u0, zero);
        const svfloat32_t y1 = svmla_n_f32_x(all, x1, u1, zero);
        other = svorr_b_z(all, other, svcmpne_f32(all, y0, t0));
        other = svorr_b_z(all, other, svcmpne_f32(all, y1, t1));
        if (i < half) {
            svwrite_hor_za32_f32_m(0, i, all, x0);
            svwrite_hor_za32_f32_m(1, i, all, x1);
        } else {
            svwrite_hor_za32_f32_m(2, i - half, all, x0);
            svwrite_hor_za32_f32_m(3, i - half, all, x1);
        }
    }
    return !svptest_any(all, other);
}

// What a zero point of one adds with a block, of which this is the word behind weights.
static svfloat32_t added(svint32_t word,
                         svfloat32_t scales) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t sum = svcvt_f32_s32_x(all, svexth_s32_x(all, word));
    const svfloat32_t scale = svcvtlt_f32_f16_x(all, svreinterpret_f16_s32(word));
    return svmul_f32_x(all, sum, svmul_f32_x(all, scale, scales));
}

static svfloat32x2_t block_start(const groups_t *groups,
                                 uint32_t k) __arm_streaming __arm_preserves("za") {
    const uint32_t block = groups->gemm->block;
    const size_t word = xnn_sme_group_words(k, block) + block / 8;
    const svint32x2_t words =
        sme_ints((const int32_t *)(const void *)groups->from + word * groups->columns,
                 groups->columns);
    const svfloat32x2_t scales = sme_group_extra(groups, XNN_SME_GROUP_SCALE);
    return svcreate2_f32(added(svget2_s32(words, 0), svget2_f32(scales, 0)),
                         added(svget2_s32(words, 1), svget2_f32(scales, 1)));
}

static svfloat32x2_t sum_of(svfloat32x2_t a,
                            svfloat32x2_t b) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    return svcreate2_f32(svadd_f32_x(all, svget2_f32(a, 0), svget2_f32(b, 0)),
                         svadd_f32_x(all, svget2_f32(a, 1), svget2_f32(b, 1)));
}

// What a zero point of one has added before k.
static svfloat32x2_t start_of(const groups_t *groups,
                              uint32_t k) __arm_streaming __arm_preserves("za") {
    svfloat32x2_t start = sme_group_extra(groups, XNN_SME_GROUP_START);
    for (uint32_t i = 0; i < k; i += groups->gemm->block) {
        start = sum_of(start, block_start(groups, i));
    }
    return start;
}

// Are sums of the blocks of a part exact? One adds no more of a zero point than was
// there before it and is after it.
static bool exact_blocks(const groups_t *groups,
                         uint32_t part) __arm_streaming __arm_preserves("za") {
    enum { ALWAYS = 32 };
    return groups->gemm->block <= ALWAYS ||
           xnn_sme_groups_end(groups, part, sme_group_none(), 2.0f) > part;
}

uint32_t xnn_sme_groups_blocks(const groups_t *groups,
                               uint32_t part) __arm_streaming __arm_inout("za") {
    uint32_t k = sme_group_k(groups, part);
    svfloat32x2_t start = start_of(groups, k);
    add_half(groups, false, start, false);
    add_half(groups, true, start, false);
    do {
        if (!exact_blocks(groups, part)) {
            return 0;
        }
        for (part++; k < sme_group_k(groups, part); k += groups->gemm->block) {
            const svfloat32x2_t more = block_start(groups, k);
            svzero_za();
            xnn_sme_groups_multiply(groups, k, k + groups->gemm->block);
            add_half(groups, false, more, true);
            add_half(groups, true, more, true);
            start = sum_of(start, more);
        }
        if (part == groups->parts) {
            load_tiles(groups, sme_group_none());
            break;
        }
    } while (xnn_sme_groups_end(groups, part, sme_group_none(), 1.0f) == part ||
             !load_tiles(groups, start));
    return part;
}
