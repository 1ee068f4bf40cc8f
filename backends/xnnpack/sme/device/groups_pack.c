// SPDX-License-Identifier: Apache-2.0
// Rows and columns of products with scales per block of weights as float16, which
// represents both exactly.
#include "groups.h"

// --- rows ----------------------------------------------------------------------------

// Of eight elements, pairs (0, 2), (4, 6), (1, 3), (5, 7) become words, in the order of
// the nibbles of packed weights.
static inline __attribute__((always_inline)) void
convert(svint8_t x, svint8_t zero, svbool_t h0, svbool_t h1,
        uint16_t *to) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b16();
    const svfloat16_t even = svcvt_f16_s16_x(all, svsublb_s16(x, zero));
    const svfloat16_t odd = svcvt_f16_s16_x(all, svsublt_s16(x, zero));
    const svuint64_t e4 = svreinterpret_u64_f16(even);
    const svuint64_t o4 = svreinterpret_u64_f16(odd);
    svst1_u16(h0, to, svreinterpret_u16_u64(svzip1_u64(e4, o4)));
    svst1_vnum_u16(h1, to, 1, svreinterpret_u16_u64(svzip2_u64(e4, o4)));
}

static void convert_row(const int8_t *from, uint32_t k, int32_t zero,
                        uint16_t *to) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b8();
    const svint8_t none = svdup_s8((int8_t)zero);
    const uint32_t most = (uint32_t)svcntb();
    const size_t whole = k / most * most;
    size_t i = 0;
    for (; i < whole; i += most) {
        convert(svld1_s8(all, from + i), none, all, all, to + i);
    }
    const uint32_t left = k - (uint32_t)i;
    if (left > 0) {
        convert(svld1_s8(svwhilelt_b8_u32(0, left), from + i), none,
                svwhilelt_b16_u32(0, left), svwhilelt_b16_u32(most / 2, left), to + i);
    }
}

static inline svfloat32_t
square(svfloat32_t sum, svuint32_t pairs) __arm_streaming __arm_preserves("za") {
    const svfloat16_t x = svreinterpret_f16_u32(pairs);
    return svmlalt_f32(svmlalb_f32(sum, x, x), x, x);
}

// The largest norm of `rows` rows, of words (words, rows) at `a`.
static float norm_of(const uint32_t *a, uint32_t words,
                     uint32_t rows) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svbool_t r0 = svwhilelt_b32_u32(0, rows);
    const svbool_t r1 = svwhilelt_b32_u32((uint32_t)svcntw(), rows);
    svfloat32_t s0 = svdup_f32(0.0f);
    svfloat32_t s1 = s0;
    for (uint32_t i = 0; i < words; i += 4) {
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j++, a += rows) {
            s0 = square(s0, svld1_u32(r0, a));
            s1 = square(s1, svld1_vnum_u32(r1, a, 1));
        }
    }
    return __builtin_sqrtf(svmaxv_f32(all, svmax_f32_x(all, s0, s1)));
}

static void find_most(float *most, float number) __arm_streaming __arm_preserves("za") {
    *most = number > *most ? number : *most;
}

// Norms of `count` packed rows in each part of k, and their zero points.
static void find_norms(const groups_t *groups, uint32_t row,
                       uint32_t count) __arm_streaming __arm_preserves("za") {
    const uint32_t words = groups->gemm->k / 2;
    const uint32_t *a = (const uint32_t *)(const void *)groups->a + (size_t)row * words;
    float *norms = groups->norms;
    for (uint32_t i = 0; i < words; i += groups->part / 2, norms++) {
        const uint32_t left = words - i;
        find_most(norms,
                  norm_of(a + (size_t)i * count,
                          left < groups->part / 2 ? left : groups->part / 2, count));
    }
    const ember_xnn_row_t *rows = groups->gemm->dynamic.rows;
    for (uint32_t i = row; i < row + count; i++) {
        groups->zeros[i] = (float)(rows[i].zero - INT8_MIN);
        find_most(norms, groups->zeros[i]);
        norms[1] += groups->zeros[i] / (float)groups->gemm->m;
    }
}

void xnn_sme_groups_rows(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const ember_xnn_row_t *from = gemm->dynamic.rows;
    uint8_t *rows = groups->w; // unused as yet
    const size_t bytes = 2 * (size_t)gemm->k;
    for (uint32_t i = 0; i < groups->parts + 2; i += (uint32_t)svcntw()) {
        svst1_f32(svwhilelt_b32_u32(i, groups->parts + 2), groups->norms + i,
                  svdup_f32(0.0f));
    }
    for (uint32_t row = 0; row < gemm->m; row += groups->most) {
        const uint32_t left = gemm->m - row;
        const uint32_t count = left < groups->most ? left : groups->most;
        for (uint32_t i = 0; i < count; i++) {
            convert_row((const int8_t *)gemm->a + (size_t)(row + i) * gemm->k, gemm->k,
                        from[row + i].zero, (uint16_t *)(void *)(rows + i * bytes));
        }
        xnn_sme_turn(rows, bytes, count, (uint32_t)bytes, 1, gemm->k / 2,
                     groups->a + row * bytes);
        find_norms(groups, row, count);
    }
}

// --- columns -------------------------------------------------------------------------

// groups.S: whole blocks of columns whose scales are close to each other.
void xnn_sme_groups_unpack(const uint8_t *from, uint8_t *to, size_t blocks,
                           size_t words) __arm_streaming __arm_preserves("za");

// Pair j of a word of weights, which are integers times 2^12, times scales.
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

// Words of two vectors of columns, left and right; the `whole` ones are adjacent.
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

// Scales of a block in both halves of words.
static inline svfloat16_t
scales_of(const uint32_t *words, svbool_t some) __arm_streaming __arm_preserves("za") {
    const svfloat16_t both = svreinterpret_f16_u32(svld1_u32(some, words));
    return svtrn2_f16(both, both);
}

static inline __attribute__((always_inline)) void
put_blocks(const groups_t *groups, uint32_t columns,
           bool whole) __arm_streaming __arm_preserves("za") {
    const uint32_t half = (uint32_t)svcntw();
    const size_t step = columns;
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32(half, columns);
    const uint32_t block = groups->gemm->dynamic.block;
    const uint32_t blocks = groups->gemm->k / block;
    const uint32_t *from = (const uint32_t *)(const void *)groups->from;
    uint32_t *to = (uint32_t *)(void *)groups->w;
    for (uint32_t i = 0; i < blocks; i++, from += step) {
        const uint32_t *words = from + block / 8 * step;
        const svfloat16_t s0 = scales_of(words, c0);
        const svfloat16_t s1 = scales_of(words + half, c1);
        for (; from < words; from += step, to += 4 * step) {
            put_pairs(to, from, columns, whole, s0, s1);
        }
    }
}

void xnn_sme_groups_columns(const groups_t *groups) __arm_streaming __arm_preserves(
    "za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    if (groups->columns != groups->most) {
        put_blocks(groups, groups->columns, false);
    } else if (groups->extra[(size_t)XNN_SME_GROUP_SCALE * groups->most] < 1.0f) {
        xnn_sme_groups_unpack(groups->from, groups->w, gemm->k / gemm->dynamic.block,
                              gemm->dynamic.block / 8);
    } else {
        put_blocks(groups, 2 * (uint32_t)svcntw(), true);
    }
}
