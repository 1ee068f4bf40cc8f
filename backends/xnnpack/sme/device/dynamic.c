// SPDX-License-Identifier: Apache-2.0
// Dynamically quantised input: sums without the zero point of the row, times the scale
// of the row; then times the scale of the column plus bias in one rounding. Weights of
// four bits are multiplied by 16.
#include "dot.h"

static void begin(const ember_xnn_sme_t *gemm,
                  const sme_block_t *block) __arm_streaming __arm_inout("za") {
    (void)gemm;
    (void)block;
    svzero_za();
}

// What all rows of a block share.
typedef struct columns {
    const ember_xnn_sme_t *gemm;
    const uint8_t *w;
    uint32_t column;
    uint32_t columns;
} columns_t;

static const int32_t *
sums_of(const columns_t *part) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = part->gemm;
    const size_t words = xnn_sme_words(gemm->kind, gemm->k);
    return (const int32_t *)(const void *)(part->w + 4 * words * part->columns);
}

static inline svfloat32_t number(svint32_t sums, svint32_t own,
                                 const ember_xnn_row_t *row, svfloat32_t scale,
                                 svfloat32_t bias, bool four, float low, float high,
                                 bool bounded) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svint32_t exact = four ? svasr_n_s32_x(all, sums, 4) : sums;
    const svint32_t sum = svmls_s32_x(all, exact, own, svdup_s32(row->zero));
    const svfloat32_t x = svmul_n_f32_x(all, svcvt_f32_s32_x(all, sum), row->scale);
    const svfloat32_t y = svmad_f32_x(all, x, scale, bias);
    return bounded ? svmin_n_f32_x(all, svmax_n_f32_x(all, y, low), high) : y;
}

// Sums of a row are in lane i * step of two adjacent tiles.
static inline __attribute__((always_inline)) void
store(const columns_t *part, uint32_t row, bool lower, uint32_t rows, uint32_t step,
      bool four, bool bounded) __arm_streaming __arm_inout("za") {
    const ember_xnn_sme_t *gemm = part->gemm;
    const svbool_t c0 = svwhilelt_b32_u32(0, part->columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)svcntw(), part->columns);
    const svint32x2_t own = sme_ints(sums_of(part), part->columns);
    const svfloat32x2_t scale =
        sme_floats(gemm->dynamic.scales + part->column, part->columns);
    const svfloat32x2_t bias = sme_bias(gemm, part->column, part->columns);
    size_t at = (size_t)row * gemm->n + part->column;
    for (uint32_t i = 0; i < rows; i++, at += gemm->n) {
        const ember_xnn_row_t *from =
            &gemm->dynamic.rows[(row + i) / gemm->dynamic.row_step];
        sme_put(gemm, at,
                number(sme_row(lower, false, i * step), svget2_s32(own, 0), from,
                       svget2_f32(scale, 0), svget2_f32(bias, 0), four, gemm->real.low,
                       gemm->real.high, bounded),
                number(sme_row(lower, true, i * step), svget2_s32(own, 1), from,
                       svget2_f32(scale, 1), svget2_f32(bias, 1), four, gemm->real.low,
                       gemm->real.high, bounded),
                c0, c1);
    }
}

static void end(const ember_xnn_sme_t *gemm,
                const sme_block_t *block) __arm_streaming __arm_inout("za") {
    const uint32_t most = (uint32_t)svcntw() / block->step;
    const uint32_t upper = block->rows < most ? block->rows : most;
    const uint32_t lower = block->rows - upper;
    const columns_t part = {gemm, block->w, block->column, block->columns};
    const bool four = gemm->kind == XNN_SME_QD8_S4;
    const bool bounded = sme_bounded(gemm);
    store(&part, block->row, false, upper, block->step, four, bounded);
    store(&part, block->row + upper, true, lower, block->step, four, bounded);
}

static inline __attribute__((always_inline)) void
one_row(const ember_xnn_sme_t *gemm, bool four) __arm_streaming __arm_preserves("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const size_t bytes = xnn_sme_column_bytes(gemm->kind, gemm->k);
    for (uint32_t j = 0; j < gemm->n; j += most) {
        const uint32_t columns = gemm->n - j < most ? gemm->n - j : most;
        const columns_t part = {gemm, (const uint8_t *)gemm->w + j * bytes, j, columns};
        const svint32_t none = svdup_s32(0);
        const svint32x2_t first = svcreate2_s32(none, none);
        const svint32x2_t sums = xnn_sme_dot_block(gemm, part.w, columns, first);
        const svint32x2_t own = sme_ints(sums_of(&part), columns);
        const svfloat32x2_t scale = sme_floats(gemm->dynamic.scales + j, columns);
        const svfloat32x2_t bias = sme_bias(gemm, j, columns);
        sme_put(gemm, j,
                number(svget2_s32(sums, 0), svget2_s32(own, 0), gemm->dynamic.rows,
                       svget2_f32(scale, 0), svget2_f32(bias, 0), four, gemm->real.low,
                       gemm->real.high, true),
                number(svget2_s32(sums, 1), svget2_s32(own, 1), gemm->dynamic.rows,
                       svget2_f32(scale, 1), svget2_f32(bias, 1), four, gemm->real.low,
                       gemm->real.high, true),
                svwhilelt_b32_u32(0, columns), svwhilelt_b32_u32(most / 2, columns));
    }
}

static void one_s8(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    one_row(gemm, false);
}

static void one_s4(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    one_row(gemm, true);
}

const sme_kind_t xnn_sme_qd8 = {begin, xnn_sme_s8_whole, xnn_sme_s8_part, end, one_s8};
const sme_kind_t xnn_sme_qd8_s4 = {begin, xnn_sme_s4_whole, xnn_sme_s4_part, end,
                                   one_s4};
