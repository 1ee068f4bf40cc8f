// SPDX-License-Identifier: Apache-2.0
// Static int8: sums begin with the bias minus the input's zero point, and are brought
// to the output's scale in float32.
#include "static.h"
#include "dot.h"

// Sums of columns after a block of them.
static const uint8_t *sums_of(const ember_xnn_sme_t *gemm, const uint8_t *w,
                              uint32_t columns) __arm_streaming __arm_preserves("za") {
    return w + 4 * (size_t)xnn_sme_words(gemm->kind, gemm->k) * columns;
}

static void begin(const ember_xnn_sme_t *gemm,
                  const sme_block_t *block) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const svint32x2_t sums =
        sme_first_sums(&gemm->fixed, sums_of(gemm, block->w, block->columns),
                       block->column, block->columns);
    svzero_za();
    svaddha_za32_s32_m(0, all, all, svget2_s32(sums, 0));
    svaddha_za32_s32_m(1, all, all, svget2_s32(sums, 1));
    svaddha_za32_s32_m(2, all, all, svget2_s32(sums, 0));
    svaddha_za32_s32_m(3, all, all, svget2_s32(sums, 1));
}

static inline void put(int8_t *y, svint32_t left, svint32_t right,
                       svfloat32x2_t factors, svint32_t low, svint32_t high,
                       svint16_t zero,
                       svbool_t columns) __arm_streaming __arm_preserves("za") {
    const svint16_t both =
        svuzp1_s16(sme_bits(left, svget2_f32(factors, 0), low, high),
                   sme_bits(right, svget2_f32(factors, 1), low, high));
    svst1b_s16(columns, y, svadd_s16_x(svptrue_b16(), both, zero));
}

// The same for at most one vector of columns.
static inline void put_narrow(int8_t *y, svint32_t sums, svfloat32x2_t factors,
                              svint32_t low, svint32_t high, svint16_t zero,
                              svbool_t columns) __arm_streaming __arm_preserves("za") {
    const svint16_t bits = sme_bits(sums, svget2_f32(factors, 0), low, high);
    const svint16_t number = svadd_s16_x(svptrue_b16(), bits, zero);
    svst1b_s32(columns, y, svreinterpret_s32_s16(number));
}

// Row i of adjacent tiles.
static inline __attribute__((always_inline)) void
put_row(int8_t *y, bool lower, bool narrow, uint32_t i, svfloat32x2_t factors,
        svint32_t low, svint32_t high, svint16_t zero,
        svbool_t columns) __arm_streaming __arm_inout("za") {
    const svint32_t left = sme_row(lower, false, i);
    if (narrow) {
        put_narrow(y, left, factors, low, high, zero, columns);
    } else {
        put(y, left, sme_row(lower, true, i), factors, low, high, zero, columns);
    }
}

// All rows. The slice of a step is a constant beside the index.
static inline __attribute__((always_inline)) void
store(const ember_xnn_sme_t *gemm, int8_t *y, bool lower, uint32_t lanes, uint32_t step,
      bool narrow, svfloat32x2_t factors,
      svbool_t columns) __arm_streaming __arm_inout("za") {
    const svint32_t low = svdup_s32(SME_HALF + (int32_t)gemm->fixed.range.low);
    const svint32_t high = svdup_s32(SME_HALF + (int32_t)gemm->fixed.range.high);
    const svint16_t zero = svdup_s16((int16_t)gemm->fixed.range.zero);
    const size_t n = gemm->n;
    uint32_t i = 0;
    for (; i + 4 <= lanes; i += 4) {
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j += step, y += n) {
            put_row(y, lower, narrow, i + j, factors, low, high, zero, columns);
        }
    }
    for (; i < lanes; i += step, y += n) {
        put_row(y, lower, narrow, i, factors, low, high, zero, columns);
    }
}

static inline __attribute__((always_inline)) void
end_step(const ember_xnn_sme_t *gemm, const sme_block_t *block, uint32_t step,
         bool narrow) __arm_streaming __arm_inout("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t columns = narrow ? svwhilelt_b32_u32(0, block->columns)
                                    : svwhilelt_b16_u32(0, block->columns);
    const svfloat32x2_t factors =
        sme_factors(&gemm->fixed, block->column, block->columns);
    const uint32_t upper = block->lanes < words ? block->lanes : words;
    int8_t *y = (int8_t *)gemm->y + (size_t)block->row * gemm->n + block->column;
    store(gemm, y, false, upper, step, narrow, factors, columns);
    y += (size_t)(upper / step) * gemm->n;
    store(gemm, y, true, block->lanes - upper, step, narrow, factors, columns);
}

static void end(const ember_xnn_sme_t *gemm,
                const sme_block_t *block) __arm_streaming __arm_inout("za") {
    const bool narrow = block->columns <= svcntw();
    if (block->step == 1) {
        narrow ? end_step(gemm, block, 1, true) : end_step(gemm, block, 1, false);
    } else {
        narrow ? end_step(gemm, block, 2, true) : end_step(gemm, block, 2, false);
    }
}

static void one(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const size_t bytes = xnn_sme_column_bytes(gemm->kind, gemm->k);
    const svint32_t low = svdup_s32(SME_HALF + (int32_t)gemm->fixed.range.low);
    const svint32_t high = svdup_s32(SME_HALF + (int32_t)gemm->fixed.range.high);
    const svint16_t zero = svdup_s16((int16_t)gemm->fixed.range.zero);
    for (uint32_t j = 0; j < gemm->n; j += most) {
        const uint32_t columns = gemm->n - j < most ? gemm->n - j : most;
        const uint8_t *w = (const uint8_t *)gemm->w + j * bytes;
        const svint32x2_t sums = xnn_sme_dot_block(
            gemm, w, columns,
            sme_first_sums(&gemm->fixed, sums_of(gemm, w, columns), j, columns));
        put((int8_t *)gemm->y + j, svget2_s32(sums, 0), svget2_s32(sums, 1),
            sme_factors(&gemm->fixed, j, columns), low, high, zero,
            svwhilelt_b16_u32(0, columns));
    }
}

const sme_kind_t xnn_sme_qs8 = {begin, xnn_sme_s8_whole, xnn_sme_s8_part, end, one};
