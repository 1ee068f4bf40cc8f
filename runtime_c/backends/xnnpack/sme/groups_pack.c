// SPDX-License-Identifier: Apache-2.0
// Rows and columns of products with scales per block of weights as float16, in which
// both are exact.
#include "groups.h"

// --- rows ----------------------------------------------------------------------------

// Of eight elements pairs (0, 2), (4, 6), (1, 3), (5, 7) become words, as halves of
// packed weights have them.
static void convert_row(const int8_t *from, uint32_t k, int32_t zero,
                        uint16_t *to) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b16();
    const svint16_t none = svdup_s16((int16_t)zero);
    const uint32_t most = (uint32_t)svcntb();
    for (uint32_t i = 0; i < k; i += most) {
        const svint8_t x = svld1_s8(svwhilelt_b8_u32(i, k), from + i);
        const svint16_t both = svreinterpret_s16_s8(x);
        const svint16_t even = svasr_n_s16_x(all, svlsl_n_s16_x(all, both, 8), 8);
        const svint16_t odd = svasr_n_s16_x(all, both, 8);
        const svfloat16_t e = svcvt_f16_s16_x(all, svsub_s16_x(all, even, none));
        const svfloat16_t o = svcvt_f16_s16_x(all, svsub_s16_x(all, odd, none));
        const svuint64_t e4 = svreinterpret_u64_f16(e);
        const svuint64_t o4 = svreinterpret_u64_f16(o);
        svst1_u16(svwhilelt_b16_u32(i, k), to + i,
                  svreinterpret_u16_u64(svzip1_u64(e4, o4)));
        svst1_u16(svwhilelt_b16_u32(i + most / 2, k), to + i + most / 2,
                  svreinterpret_u16_u64(svzip2_u64(e4, o4)));
    }
}

// The square of the norm of (x - zero): sums of x * x and of x are exact, in int32.
static int64_t square_of(const int8_t *from, uint32_t count,
                         int32_t zero) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svint8_t ones = svdup_s8(1);
    const uint32_t most = (uint32_t)svcntb();
    svint32_t squares = svdup_s32(0);
    svint32_t sums = squares;
    for (uint32_t i = 0; i < count; i += most) {
        const svint8_t x = svld1_s8(svwhilelt_b8_u32(i, count), from + i);
        squares = svdot_s32(squares, x, x);
        sums = svdot_s32(sums, x, ones);
    }
    const int64_t both = svaddv_s32(all, sums);
    return svaddv_s32(all, squares) - 2 * zero * both + (int64_t)zero * zero * count;
}

// The largest norms of `count` rows.
static void find_norms(const groups_t *groups, uint32_t row,
                       uint32_t count) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    float *norms = groups->norms + (size_t)(row / groups->most) * groups->parts;
    for (uint32_t k = 0; k < gemm->k; k += groups->part, norms++) {
        const uint32_t left = gemm->k - k;
        const uint32_t length = left < groups->part ? left : groups->part;
        int64_t most = 0;
        for (uint32_t i = row; i < row + count; i++) {
            const int64_t square =
                square_of((const int8_t *)gemm->a + (size_t)i * gemm->k + k, length,
                          gemm->rows[i].zero);
            most = square > most ? square : most;
        }
        *norms = __builtin_sqrtf((float)most);
    }
}

void xnn_sme_groups_rows(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    uint8_t *rows = groups->w; // not in use yet
    const size_t bytes = 2 * (size_t)gemm->k;
    for (uint32_t row = 0; row < gemm->m; row += groups->most) {
        const uint32_t left = gemm->m - row;
        const uint32_t count = left < groups->most ? left : groups->most;
        for (uint32_t i = 0; i < count; i++) {
            convert_row((const int8_t *)gemm->a + (size_t)(row + i) * gemm->k, gemm->k,
                        gemm->rows[row + i].zero,
                        (uint16_t *)(void *)(rows + i * bytes));
        }
        find_norms(groups, row, count);
        xnn_sme_turn(rows, bytes, count, (uint32_t)bytes, 1, gemm->k / 2,
                     groups->a + row * bytes);
    }
}

// --- columns -------------------------------------------------------------------------

// Pair j of a word of weights, which are times 2^12 as integers, times scales.
static inline svuint32_t
pair_of(svint16_t word, uint32_t j,
        svfloat16_t scale) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b16();
    const svint16_t top = svdup_s16((int16_t)-4096);
    const svint16_t high =
        j == 3 ? word : svlsl_n_s16_x(all, word, (uint16_t)(12 - 4 * j));
    const svint16_t weight = j == 0 ? high : svand_s16_x(all, high, top);
    return svreinterpret_u32_f16(svmul_f16_x(all, svcvt_f16_s16_x(all, weight), scale));
}

// Words of two vectors of columns, left and right; `whole` ones lie behind each other.
static inline __attribute__((always_inline)) void
put_pairs(uint32_t *to, const uint32_t *from, uint32_t columns, bool whole,
          svfloat16_t s0, svfloat16_t s1) __arm_streaming __arm_preserves("za") {
    const uint32_t half = (uint32_t)svcntw();
    const svbool_t c0 = whole ? svptrue_b32() : svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = whole ? svptrue_b32() : svwhilelt_b32_u32(half, columns);
    const svint16_t w0 = svreinterpret_s16_u32(svld1_u32(c0, from));
    const svint16_t w1 = svreinterpret_s16_u32(svld1_vnum_u32(c1, from, 1));
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < 4; j++) {
        if (whole) {
            svst1_vnum_u32(c0, to, 2 * j, pair_of(w0, j, s0));
            svst1_vnum_u32(c1, to, 2 * j + 1, pair_of(w1, j, s1));
        } else {
            svst1_u32(c0, to + (size_t)j * columns, pair_of(w0, j, s0));
            svst1_u32(c1, to + (size_t)j * columns + half, pair_of(w1, j, s1));
        }
    }
}

// Scales of a block, 2^-12 times, in both halves of words.
static inline svfloat16_t
scales_of(const uint32_t *words, const float *factors,
          svbool_t some) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t scale =
        sme_group_scale(svreinterpret_s32_u32(svld1_u32(some, words)));
    const svfloat32_t factor = svld1_f32(some, factors);
    const svfloat16_t half = svcvt_f16_f32_x(all, svmul_f32_x(all, scale, factor));
    const svuint32_t bits = svand_n_u32_x(all, svreinterpret_u32_f16(half), UINT16_MAX);
    return svreinterpret_f16_u32(svorr_u32_x(all, bits, svlsl_n_u32_x(all, bits, 16)));
}

void xnn_sme_groups_columns(const groups_t *groups) __arm_streaming __arm_preserves(
    "za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const uint32_t columns = groups->columns;
    const uint32_t block = gemm->block;
    const uint32_t half = (uint32_t)svcntw();
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32(half, columns);
    const uint32_t *from = (const uint32_t *)(const void *)groups->from;
    const float *factors = groups->scaled + (size_t)XNN_SME_GROUP_FACTOR * columns;
    uint32_t *to = (uint32_t *)(void *)groups->w;
    for (uint32_t k = 0; k < gemm->k; k += block, from += columns) {
        const uint32_t *words = from + (size_t)block / 8 * columns;
        const svfloat16_t s0 = scales_of(words, factors, c0);
        const svfloat16_t s1 = scales_of(words + half, factors + half, c1);
        if (columns == 2 * half) {
            for (uint32_t i = 0; i < block; i += 8) {
                put_pairs(to, from, columns, true, s0, s1);
                from += columns;
                to += 4 * columns;
            }
        } else {
            for (uint32_t i = 0; i < block; i += 8) {
                put_pairs(to, from, columns, false, s0, s1);
                from += columns;
                to += 4 * columns;
            }
        }
    }
}
