// SPDX-License-Identifier: Apache-2.0
// Dynamically quantised input by weights of four bits with a scale per block: columns
// become float16 once, and are multiplied by all rows.
#include "groups.h"

// --- results -------------------------------------------------------------------------

// The results of row i of adjacent tiles.
static inline __attribute__((always_inline)) svfloat32x2_t
numbers_of(bool lower, uint32_t i, svfloat32x2_t back, const ember_xnn_row_t *row,
           svfloat32x2_t bias) __arm_streaming __arm_inout("za") {
    const svfloat32_t left = svreinterpret_f32_s32(sme_row(lower, false, i));
    const svfloat32_t right = svreinterpret_f32_s32(sme_row(lower, true, i));
    return sme_group_numbers(svcreate2_f32(left, right), back, row->scale, bias);
}

// Stores rows of tiles from `row` of the output on; four at a time if they are stored
// unchanged.
static inline __attribute__((always_inline)) void
put_rows(const groups_t *groups, bool lower, uint32_t row, uint32_t rows,
         bool plain) __arm_streaming __arm_inout("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const size_t n = gemm->n;
    const svbool_t c0 = svwhilelt_b32_u32(0, groups->columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)svcntw(), groups->columns);
    const svfloat32x2_t bias = sme_bias(gemm, groups->column, groups->columns);
    const svfloat32x2_t back = sme_group_extra(groups, XNN_SME_GROUP_BACK);
    const ember_xnn_row_t *from = gemm->dynamic.rows + row;
    size_t at = (size_t)row * n + groups->column;
    float *y = (float *)gemm->y + at;
    uint32_t i = 0;
    for (; plain && i + 4 <= rows; i += 4, from += 4, at += 4 * n) {
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j++, y += n) {
            const svfloat32x2_t own = numbers_of(lower, i + j, back, from + j, bias);
            svst1_f32(c0, y, svget2_f32(own, 0));
            svst1_vnum_f32(c1, y, 1, svget2_f32(own, 1));
        }
    }
    for (; i < rows; i++, from++, at += n) {
        sme_group_put(gemm, at, numbers_of(lower, i, back, from, bias), c0, c1);
    }
}

static void put_block(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const uint32_t half = groups->most / 2;
    const uint32_t upper = groups->rows < half ? groups->rows : half;
    const uint32_t lower = groups->rows - upper;
    const uint32_t next = groups->row + upper;
    if (sme_bounded(groups->gemm)) {
        put_rows(groups, false, groups->row, upper, false);
        put_rows(groups, true, next, lower, false);
    } else {
        put_rows(groups, false, groups->row, upper, true);
        put_rows(groups, true, next, lower, true);
    }
}

void xnn_sme_groups_block(groups_t *groups) __arm_streaming __arm_inout("za") {
    if (xnn_sme_groups_add(groups)) {
        put_block(groups);
    } else {
        for (uint32_t i = groups->row; i < groups->row + groups->rows; i++) {
            xnn_sme_groups_row(groups->gemm, i, groups->column, groups->from);
        }
    }
}

// Where things are in scratch.
static void set_up(groups_t *groups) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const size_t most = groups->most;
    groups->part = xnn_sme_group_part(gemm->dynamic.block);
    groups->parts = (gemm->k + groups->part - 1) / groups->part;
    groups->sums = (float *)(void *)gemm->scratch;
    groups->numbers = groups->sums + most * most;
    groups->w = gemm->scratch + 8 * most * most;
    groups->a = groups->w + 2 * most * gemm->k;
    groups->zeros = (float *)(void *)(groups->a + 2 * (size_t)gemm->m * gemm->k);
    groups->norms = groups->zeros + gemm->m;
    groups->ends = (uint32_t *)(void *)(groups->norms + groups->parts + 2);
    groups->lifts = groups->norms + 2 * (size_t)groups->parts + 2;
    groups->bounds = groups->lifts + groups->parts * most;
    groups->marks = groups->bounds + (groups->parts + 1) * most;
    groups->list = (uint32_t *)(void *)(groups->marks + most);
    groups->panel = groups->list + XNN_SME_GROUP_APART * most;
}

void xnn_sme_groups(const ember_xnn_sme_t *gemm) __arm_streaming __arm_inout("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    groups_t groups = {.gemm = gemm, .most = most, .deviations = 1.5f};
    set_up(&groups);
    const size_t words = xnn_sme_group_words(gemm->k, gemm->dynamic.block);
    const size_t column = sme_group_column(&groups);
    xnn_sme_groups_rows(&groups);
    for (groups.column = 0; groups.column < gemm->n; groups.column += most) {
        const uint32_t rest = gemm->n - groups.column;
        groups.columns = rest < most ? rest : most;
        groups.from = (const uint8_t *)gemm->w + 4 * groups.column * column;
        groups.extra =
            (const float *)(const void *)(groups.from + 4 * words * groups.columns);
        xnn_sme_groups_plan(&groups, false);
        xnn_sme_groups_columns(&groups);
        for (groups.row = 0; groups.row < gemm->m; groups.row += groups.rows) {
            const uint32_t left = gemm->m - groups.row;
            groups.rows = left < most ? left : most;
            xnn_sme_groups_block(&groups);
        }
    }
    xnn_sme_groups_apart(&groups);
}
