// SPDX-License-Identifier: Apache-2.0
// Input that was quantised while it ran by weights of four bits with scales per block
// of them. XNNPACK adds the sum of a block, times its scale, to those before in one
// rounding, block after block.
//
// Outer products of float16, which are elements without zero points and weights times
// scales, add two products in one step. As long as all sums are multiples of the last
// bit of a column's smallest scale below 2^24 of it, nothing is rounded either way:
// that holds for a part of k when a bound of the sums so far and the product of the
// norms of row and column do. From the first part on for which it cannot be told,
// blocks are summed from zero, which is exact always, and added one by one.
#include "groups.h"

// --- sums ----------------------------------------------------------------------------

// Rows of tiles beside each other are added.
static inline __attribute__((always_inline)) void
add(float *sums, size_t stride, bool lower,
    uint32_t rows) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    for (uint32_t i = 0; i < rows; i += 4) { // no fewer: sums has place for all
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j++, sums += stride) {
            const svfloat32_t left =
                svreinterpret_f32_s32(sme_row(lower, false, i + j));
            const svfloat32_t right =
                svreinterpret_f32_s32(sme_row(lower, true, i + j));
            const svfloat32_t t0 = svld1_f32(all, sums);
            const svfloat32_t t1 = svld1_vnum_f32(all, sums, 1);
            svst1_f32(all, sums, svadd_f32_x(all, t0, left));
            svst1_vnum_f32(all, sums, 1, svadd_f32_x(all, t1, right));
        }
    }
}

static void add_all(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const uint32_t half = groups->most / 2;
    const uint32_t upper = groups->rows < half ? groups->rows : half;
    add(groups->sums, groups->most, false, upper);
    add(groups->sums + (size_t)half * groups->most, groups->most, true,
        groups->rows - upper);
}

static void store_all(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const size_t half = groups->most / 2;
    float *upper = groups->sums;
    float *lower = groups->sums + half * groups->most;
    for (uint32_t i = 0; i < half; i++, upper += groups->most, lower += groups->most) {
        svst1_hor_za32(0, i, all, upper);
        svst1_hor_za32(1, i, all, upper + half);
        svst1_hor_za32(2, i, all, lower);
        svst1_hor_za32(3, i, all, lower + half);
    }
}

// No less than the magnitudes of columns, left or right: norms of every fourth row.
static inline __attribute__((always_inline)) svfloat32_t
magnitudes(const groups_t *groups, bool right) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    svfloat32_t s0 = svdup_f32(0.0f);
    svfloat32_t s1 = s0;
    svfloat32_t s2 = s0;
    svfloat32_t s3 = s0;
    for (uint32_t i = 0; i < groups->most / 2; i += 4) {
#pragma clang loop unroll(full)
        for (uint32_t lower = 0; lower < 2; lower++) {
            const svfloat32_t x0 = svreinterpret_f32_s32(sme_row(lower, right, i));
            const svfloat32_t x1 = svreinterpret_f32_s32(sme_row(lower, right, i + 1));
            const svfloat32_t x2 = svreinterpret_f32_s32(sme_row(lower, right, i + 2));
            const svfloat32_t x3 = svreinterpret_f32_s32(sme_row(lower, right, i + 3));
            s0 = svmla_f32_x(all, s0, x0, x0);
            s1 = svmla_f32_x(all, s1, x1, x1);
            s2 = svmla_f32_x(all, s2, x2, x2);
            s3 = svmla_f32_x(all, s3, x3, x3);
        }
    }
    const svfloat32_t most =
        svmax_f32_x(all, svmax_f32_x(all, s0, s1), svmax_f32_x(all, s2, s3));
    return svmul_n_f32_x(all, svsqrt_f32_x(all, most), 1.001f);
}

// Products of k from `k` to k + count.
static void multiply(const groups_t *groups, uint32_t k,
                     uint32_t count) __arm_streaming __arm_inout("za") {
    const size_t row = 2 * (size_t)groups->row * groups->gemm->k;
    const uint8_t *a = groups->a + row + 2 * (size_t)k * groups->rows;
    const uint8_t *w = groups->w + 2 * (size_t)k * groups->columns;
    if (groups->rows == groups->most && groups->columns == groups->most) {
        xnn_sme_f16_whole(a, w, count / 2);
    } else {
        xnn_sme_f16_part(a, w, count / 2, groups->rows, groups->columns);
    }
}

// Adds parts to the tiles while nothing is rounded. How many of k were added.
static uint32_t add_parts(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const svbool_t all = svptrue_b32();
    const uint32_t columns = groups->columns;
    const float *norms =
        groups->norms + (size_t)(groups->row / groups->most) * groups->parts;
    const float *own = groups->scaled + (size_t)XNN_SME_GROUP_NORMS * columns;
    const svfloat32x2_t limits =
        sme_floats(groups->scaled + (size_t)XNN_SME_GROUP_LIMIT * columns, columns);
    svfloat32_t t0 = svdup_f32(0.0f);
    svfloat32_t t1 = t0;
    uint32_t k = 0;
    for (; k < gemm->k; k += groups->part, own += columns, norms++) {
        const svfloat32x2_t more = sme_floats(own, columns);
        const svfloat32_t m0 = svmul_n_f32_x(all, svget2_f32(more, 0), *norms);
        const svfloat32_t m1 = svmul_n_f32_x(all, svget2_f32(more, 1), *norms);
        for (uint32_t tries = 0;; tries++) {
            const svfloat32_t n0 = svadd_f32_x(all, t0, m0);
            const svfloat32_t n1 = svadd_f32_x(all, t1, m1);
            const svbool_t past =
                svorr_b_z(all, svcmpgt_f32(all, n0, svget2_f32(limits, 0)),
                          svcmpgt_f32(all, n1, svget2_f32(limits, 1)));
            if (!svptest_any(all, past)) {
                t0 = n0;
                t1 = n1;
                break;
            }
            if (tries > 0) {
                return k;
            }
            t0 = magnitudes(groups, false);
            t1 = magnitudes(groups, true);
        }
        const uint32_t left = gemm->k - k;
        multiply(groups, k, left < groups->part ? left : groups->part);
    }
    return gemm->k;
}

static void run_block(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    svzero_za();
    uint32_t k = add_parts(groups);
    store_all(groups);
    for (; k < gemm->k; k += gemm->block) {
        svzero_za();
        multiply(groups, k, gemm->block);
        add_all(groups);
    }
}

// --- numbers -------------------------------------------------------------------------

static void end_block(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const svbool_t all = svptrue_b32();
    const svfloat32x2_t bias = sme_bias(gemm, groups->column, groups->columns);
    const svfloat32x2_t back = sme_floats(
        groups->scaled + (size_t)XNN_SME_GROUP_BACK * groups->columns, groups->columns);
    const bool bounded = sme_bounded(gemm);
    for (uint32_t i = 0; i < groups->rows; i++) {
        const float *sums = groups->sums + (size_t)i * groups->most;
        const uint32_t row = groups->row + i;
        const svfloat32_t t0 =
            svmul_f32_x(all, svld1_f32(all, sums), svget2_f32(back, 0));
        const svfloat32_t t1 =
            svmul_f32_x(all, svld1_vnum_f32(all, sums, 1), svget2_f32(back, 1));
        sme_group_put(gemm, (size_t)row * gemm->n + groups->column, row,
                      svcreate2_f32(t0, t1), bias, groups->columns, bounded);
    }
}

void xnn_sme_groups(const ember_xnn_sme_t *gemm) __arm_streaming __arm_inout("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const size_t words = xnn_sme_group_words(gemm->k, gemm->block);
    const size_t column = words + xnn_sme_group_extra(gemm->k, gemm->block);
    groups_t groups = {.gemm = gemm, .most = most};
    groups.part = xnn_sme_group_part(gemm->block);
    groups.parts = (gemm->k + groups.part - 1) / groups.part;
    groups.sums = (float *)(void *)gemm->scratch;
    groups.w = gemm->scratch + 4 * (size_t)most * most;
    groups.a = groups.w + 2 * (size_t)most * gemm->k;
    groups.norms = (float *)(void *)(groups.a + 2 * (size_t)gemm->m * gemm->k);
    xnn_sme_groups_rows(&groups);
    for (groups.column = 0; groups.column < gemm->n; groups.column += most) {
        const uint32_t rest = gemm->n - groups.column;
        groups.columns = rest < most ? rest : most;
        groups.from = (const uint8_t *)gemm->w + 4 * groups.column * column;
        groups.scaled =
            (const float *)(const void *)(groups.from + 4 * words * groups.columns);
        xnn_sme_groups_columns(&groups);
        for (groups.row = 0; groups.row < gemm->m; groups.row += groups.rows) {
            const uint32_t left = gemm->m - groups.row;
            groups.rows = left < most ? left : most;
            run_block(&groups);
            end_block(&groups);
        }
    }
}
