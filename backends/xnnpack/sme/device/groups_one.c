// SPDX-License-Identifier: Apache-2.0
// Rows one by one, with scales per block of weights.
#include "groups.h"

// Elements count from -128 on, so a sum begins with that many times the sum of a
// block's weights, the lower half of its word, times 16 like all sums here.
static inline svint32_t begin(svint32_t word) __arm_streaming __arm_preserves("za") {
    return svmlalb_n_s32(svdup_s32(0), svreinterpret_s16_s32(word), 16 * -INT8_MIN);
}

static inline svfloat32_t add(svfloat32_t sum, svint32_t own,
                              svint32_t word) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t scale = svcvtlt_f32_f16_x(all, svreinterpret_f16_s32(word));
    return svmla_f32_x(all, sum, svcvt_f32_s32_x(all, own), scale);
}

// Adds block by block to the sums of some columns.
static svfloat32x2_t
add_blocks(const ember_xnn_sme_t *gemm, const int8_t *a, const uint8_t *w,
           uint32_t columns, svfloat32x2_t sums) __arm_streaming __arm_preserves("za") {
    const size_t bytes = (size_t)gemm->dynamic.block / 2 * columns;
    svfloat32_t s0 = svget2_f32(sums, 0);
    svfloat32_t s1 = svget2_f32(sums, 1);
    ember_xnn_sme_t part = *gemm;
    part.kind = XNN_SME_QD8_S4;
    part.k = gemm->dynamic.block;
    for (uint32_t k = 0; k < gemm->k; k += gemm->dynamic.block) {
        const svint32x2_t words =
            sme_ints((const int32_t *)(const void *)(w + bytes), columns);
        const svint32_t w0 = svget2_s32(words, 0);
        const svint32_t w1 = svget2_s32(words, 1);
        part.a = a + k;
        const svint32x2_t own =
            xnn_sme_dot_block(&part, w, columns, svcreate2_s32(begin(w0), begin(w1)));
        s0 = add(s0, svget2_s32(own, 0), w0);
        s1 = add(s1, svget2_s32(own, 1), w1);
        w += bytes + 4 * (size_t)columns;
    }
    return svcreate2_f32(s0, s1);
}

static svfloat32x2_t add_all(const ember_xnn_sme_t *gemm, const int8_t *a,
                             const uint8_t *w, uint32_t columns,
                             svfloat32x2_t sums) __arm_streaming __arm_preserves("za") {
    if (gemm->dynamic.half_out) {
        return xnn_sme_groups_half(gemm, a, w, columns, sums);
    }
    const size_t steps = gemm->dynamic.block / 32;
    return columns == 2 * svcntw() && gemm->dynamic.block % 32 == 0
               ? xnn_sme_b4_dot(sums, a, w, gemm->k / gemm->dynamic.block, steps)
               : add_blocks(gemm, a, w, columns, sums);
}

// Scale and bias are applied in one step for float16, and in two for float32.
static svfloat32x2_t numbers_of(svfloat32x2_t sums, svfloat32x2_t back, float scale,
                                svfloat32x2_t bias,
                                bool half) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    if (!half) {
        return sme_group_numbers(sums, back, scale, bias);
    }
    const svfloat32_t x0 = svmul_f32_x(all, svget2_f32(sums, 0), svget2_f32(back, 0));
    const svfloat32_t x1 = svmul_f32_x(all, svget2_f32(sums, 1), svget2_f32(back, 1));
    return svcreate2_f32(svmla_n_f32_x(all, svget2_f32(bias, 0), x0, scale),
                         svmla_n_f32_x(all, svget2_f32(bias, 1), x1, scale));
}

// Sums of a row and a block of columns; the values after the weights are `extra`.
static svfloat32x2_t sums_of(const ember_xnn_sme_t *gemm, uint32_t row,
                             uint32_t columns, const uint8_t *w,
                             const float *extra) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32x2_t starts =
        sme_floats(extra + (size_t)columns * XNN_SME_GROUP_START, columns);
    // While they are added they are scaled by 16 and by scales of their own.
    const svfloat32x2_t scales =
        sme_floats(extra + (size_t)columns * XNN_SME_GROUP_SCALE, columns);
    const svfloat32_t f0 = svmul_n_f32_x(all, svget2_f32(scales, 0), 0x1p-4f);
    const svfloat32_t f1 = svmul_n_f32_x(all, svget2_f32(scales, 1), 0x1p-4f);
    const float zero =
        (float)(gemm->dynamic.rows[row].zero - (gemm->dynamic.half_out ? 0 : INT8_MIN));
    const svfloat32_t s0 = svmul_n_f32_x(all, svget2_f32(starts, 0), zero);
    const svfloat32_t s1 = svmul_n_f32_x(all, svget2_f32(starts, 1), zero);
    const svfloat32x2_t first =
        svcreate2_f32(svdiv_f32_x(all, s0, f0), svdiv_f32_x(all, s1, f1));
    const svfloat32x2_t found = add_all(
        gemm, (const int8_t *)gemm->a + (size_t)row * gemm->k, w, columns, first);
    return svcreate2_f32(svmul_f32_x(all, svget2_f32(found, 0), f0),
                         svmul_f32_x(all, svget2_f32(found, 1), f1));
}

void xnn_sme_groups_row(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t column,
                        const uint8_t *w) __arm_streaming __arm_preserves("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const uint32_t left = gemm->n - column;
    const uint32_t columns = left < most ? left : most;
    const float *extra =
        (const float *)(const void *)w +
        (size_t)columns * xnn_sme_group_words(gemm->k, gemm->dynamic.block);
    const svfloat32x2_t back =
        sme_floats(extra + (size_t)columns * XNN_SME_GROUP_BACK, columns);
    const svfloat32x2_t sums = sums_of(gemm, row, columns, w, extra);
    const svfloat32x2_t bias = sme_bias(gemm, column, columns);
    sme_group_put(gemm, (size_t)row * gemm->n + column,
                  numbers_of(sums, back, gemm->dynamic.rows[row].scale, bias,
                             gemm->dynamic.half_out),
                  svwhilelt_b32_u32(0, columns), svwhilelt_b32_u32(most / 2, columns));
}

void xnn_sme_groups_each(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves(
    "za") {
    const size_t bytes = 4 * (size_t)xnn_sme_group_column(gemm->k, gemm->dynamic.block);
    const uint32_t most = 2 * (uint32_t)svcntw();
    for (uint32_t column = 0; column < gemm->n; column += most) {
        const uint8_t *w = (const uint8_t *)gemm->w + column * bytes;
        for (uint32_t row = 0; row < gemm->m; row++) {
            xnn_sme_groups_row(gemm, row, column, w);
        }
    }
}
