// SPDX-License-Identifier: Apache-2.0
// Input that was quantised while it ran by weights of four bits with scales per block
// of them. The sum of a block is exact, times its scale too, and is added to those
// before in one rounding, block after block, as XNNPACK does.
//
// Many rows: elements without their zero points and weights become float16, in which
// both are exact, and so are outer products of a block in float32. Weights enter times
// 2^12; their scales take it off.
#include "dot.h"

enum { SHIFT = 12 };

typedef struct groups {
    const ember_xnn_sme_t *gemm;
    uint8_t *a;          // rows of all blocks of rows, packed
    uint8_t *w;          // a block of columns as float16
    float *sums;         // (rows, most) of a block
    const uint8_t *from; // the block of columns, packed
    uint32_t most;       // rows and columns of a block
    uint32_t rows;       // of this one
    uint32_t columns;
    uint32_t row;
    uint32_t column;
} groups_t;

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

static void pack_rows(const groups_t *groups,
                      uint8_t *rows) __arm_streaming __arm_inout("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const size_t bytes = 2 * (size_t)gemm->k;
    for (uint32_t row = 0; row < gemm->m; row += groups->most) {
        const uint32_t left = gemm->m - row;
        const uint32_t count = left < groups->most ? left : groups->most;
        for (uint32_t i = 0; i < count; i++) {
            convert_row((const int8_t *)gemm->a + (size_t)(row + i) * gemm->k, gemm->k,
                        gemm->rows[row + i].zero,
                        (uint16_t *)(void *)(rows + i * bytes));
        }
        xnn_sme_turn(rows, bytes, count, (uint32_t)bytes, 1, gemm->k / 2,
                     groups->a + row * bytes);
    }
}

// --- columns -------------------------------------------------------------------------

static inline void put_pairs(uint32_t *to, uint32_t columns, svint16_t word,
                             svbool_t some) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b16();
    const svint16_t top = svdup_s16((int16_t)-4096);
    const svint16_t w0 = svlsl_n_s16_x(all, word, 12);
    const svint16_t w1 = svand_s16_x(all, svlsl_n_s16_x(all, word, 8), top);
    const svint16_t w2 = svand_s16_x(all, svlsl_n_s16_x(all, word, 4), top);
    const svint16_t w3 = svand_s16_x(all, word, top);
    svst1_u32(some, to, svreinterpret_u32_f16(svcvt_f16_s16_x(all, w0)));
    svst1_u32(some, to + columns, svreinterpret_u32_f16(svcvt_f16_s16_x(all, w1)));
    svst1_u32(some, to + 2 * columns, svreinterpret_u32_f16(svcvt_f16_s16_x(all, w2)));
    svst1_u32(some, to + 3 * columns, svreinterpret_u32_f16(svcvt_f16_s16_x(all, w3)));
}

// Weights of a block of columns as pairs of float16, without what lies between blocks.
static void expand(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const uint32_t columns = groups->columns;
    const uint32_t half = (uint32_t)svcntw();
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32(half, columns);
    const uint32_t *from = (const uint32_t *)(const void *)groups->from;
    uint32_t *to = (uint32_t *)(void *)groups->w;
    for (uint32_t k = 0; k < gemm->k; k += gemm->block, from += columns) {
        for (uint32_t i = 0; i < gemm->block; i += 8) {
            put_pairs(to, columns, svreinterpret_s16_u32(svld1_u32(c0, from)), c0);
            put_pairs(to + half, columns,
                      svreinterpret_s16_u32(svld1_vnum_u32(c1, from, 1)), c1);
            from += columns;
            to += 4 * columns;
        }
    }
}

// --- sums ----------------------------------------------------------------------------

static inline svfloat32_t
scale_of(svint32_t word) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    return svreinterpret_f32_s32(svand_n_s32_x(all, word, (int32_t)0xffff0000));
}

// Rows of tiles beside each other times scales are added.
static inline __attribute__((always_inline)) void
add(float *sums, size_t stride, bool lower, uint32_t rows,
    svfloat32x2_t scales) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t s0 = svget2_f32(scales, 0);
    const svfloat32_t s1 = svget2_f32(scales, 1);
    for (uint32_t i = 0; i < rows; i += 4) { // no fewer: sums has place for all
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j++, sums += stride) {
            const svfloat32_t left =
                svreinterpret_f32_s32(sme_row(lower, false, i + j));
            const svfloat32_t right =
                svreinterpret_f32_s32(sme_row(lower, true, i + j));
            const svfloat32_t t0 = svld1_f32(all, sums);
            const svfloat32_t t1 = svld1_vnum_f32(all, sums, 1);
            svst1_f32(all, sums, svmla_f32_x(all, t0, left, s0));
            svst1_vnum_f32(all, sums, 1, svmla_f32_x(all, t1, right, s1));
        }
    }
}

static void run_block(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const svbool_t all = svptrue_b32();
    const uint32_t words = gemm->block / 2;
    const uint32_t half = groups->most / 2;
    const uint32_t upper = groups->rows < half ? groups->rows : half;
    const uint8_t *a = groups->a + 2 * (size_t)groups->row * gemm->k;
    const uint8_t *w = groups->w;
    const uint32_t *from = (const uint32_t *)(const void *)groups->from;
    for (uint32_t k = 0; k < gemm->k; k += gemm->block) {
        svzero_za();
        if (groups->rows == groups->most && groups->columns == groups->most) {
            xnn_sme_f16_whole(a, w, words);
        } else {
            xnn_sme_f16_part(a, w, words, groups->rows, groups->columns);
        }
        a += 4 * (size_t)words * groups->rows;
        w += 4 * (size_t)words * groups->columns;
        from += (size_t)gemm->block / 8 * groups->columns;
        const svint32x2_t own =
            sme_ints((const int32_t *)(const void *)from, groups->columns);
        const svfloat32_t s0 = scale_of(svget2_s32(own, 0));
        const svfloat32_t s1 = scale_of(svget2_s32(own, 1));
        const float off = 1.0f / (1 << SHIFT);
        const svfloat32x2_t scales =
            svcreate2_f32(svmul_n_f32_x(all, s0, off), svmul_n_f32_x(all, s1, off));
        add(groups->sums, groups->most, false, upper, scales);
        add(groups->sums + (size_t)half * groups->most, groups->most, true,
            groups->rows - upper, scales);
        from += groups->columns;
    }
}

// --- numbers -------------------------------------------------------------------------

static inline void put(const ember_xnn_sme_t *gemm, size_t at, uint32_t row,
                       svfloat32x2_t sums, svfloat32x2_t bias,
                       uint32_t columns) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)svcntw(), columns);
    const float scale = gemm->rows[row].scale;
    const svfloat32_t x0 = svmul_n_f32_x(all, svget2_f32(sums, 0), scale);
    const svfloat32_t x1 = svmul_n_f32_x(all, svget2_f32(sums, 1), scale);
    svfloat32_t y0 = svadd_f32_x(all, x0, svget2_f32(bias, 0));
    svfloat32_t y1 = svadd_f32_x(all, x1, svget2_f32(bias, 1));
    y0 = svmin_n_f32_x(all, svmax_n_f32_x(all, y0, gemm->low), gemm->high);
    y1 = svmin_n_f32_x(all, svmax_n_f32_x(all, y1, gemm->low), gemm->high);
    sme_put(gemm, at, y0, y1, c0, c1);
}

static void end_block(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const svbool_t all = svptrue_b32();
    const svfloat32x2_t bias = sme_bias(gemm, groups->column, groups->columns);
    for (uint32_t i = 0; i < groups->rows; i++) {
        float *sums = groups->sums + (size_t)i * groups->most;
        const uint32_t row = groups->row + i;
        put(gemm, (size_t)row * gemm->n + groups->column, row,
            svcreate2_f32(svld1_f32(all, sums), svld1_vnum_f32(all, sums, 1)), bias,
            groups->columns);
    }
}

static void clear(float *sums, uint32_t count) __arm_streaming __arm_preserves("za") {
    for (uint32_t i = 0; i < count; i += (uint32_t)svcntw()) {
        svst1_f32(svptrue_b32(), sums + i, svdup_f32(0.0f));
    }
}

void xnn_sme_groups(const ember_xnn_sme_t *gemm) __arm_streaming __arm_inout("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const size_t bytes = 2 * (size_t)gemm->k;
    const size_t column =
        (size_t)gemm->k / gemm->block * xnn_sme_column_bytes(gemm->kind, gemm->block);
    groups_t groups = {.gemm = gemm, .most = most};
    groups.sums = (float *)(void *)gemm->scratch;
    groups.w = gemm->scratch + 4 * (size_t)most * most;
    groups.a = groups.w + most * bytes;
    pack_rows(&groups, groups.w);
    for (groups.column = 0; groups.column < gemm->n; groups.column += most) {
        const uint32_t rest = gemm->n - groups.column;
        groups.columns = rest < most ? rest : most;
        groups.from = (const uint8_t *)gemm->w + groups.column * column;
        expand(&groups);
        for (groups.row = 0; groups.row < gemm->m; groups.row += groups.rows) {
            const uint32_t left = gemm->m - groups.row;
            groups.rows = left < most ? left : most;
            clear(groups.sums, most * most);
            run_block(&groups);
            end_block(&groups);
        }
    }
}

// --- one row -------------------------------------------------------------------------

// The sum of a block: int32, sixteen times itself, then without the zero point.
static inline svfloat32_t add_one(svfloat32_t sum, svint32_t own, svint32_t word,
                                  int32_t zero) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svint32_t weights = svasr_n_s32_x(all, svlsl_n_s32_x(all, word, 16), 16);
    const svint32_t exact = svasr_n_s32_x(all, own, 4);
    const svint32_t part = svmls_n_s32_x(all, exact, weights, zero);
    return svmla_f32_x(all, sum, svcvt_f32_s32_x(all, part), scale_of(word));
}

void xnn_sme_groups_one(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves(
    "za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const svint32_t none = svdup_s32(0);
    const int32_t zero = gemm->rows[0].zero;
    const uint8_t *w = gemm->w;
    ember_xnn_sme_t part = *gemm;
    part.kind = XNN_SME_QD8_S4;
    part.k = gemm->block;
    for (uint32_t j = 0; j < gemm->n; j += most) {
        const uint32_t columns = gemm->n - j < most ? gemm->n - j : most;
        svfloat32_t s0 = svdup_f32(0.0f);
        svfloat32_t s1 = s0;
        for (uint32_t k = 0; k < gemm->k; k += gemm->block) {
            part.a = (const int8_t *)gemm->a + k;
            const svint32x2_t own =
                xnn_sme_dot_block(&part, w, columns, svcreate2_s32(none, none));
            w += (size_t)gemm->block / 2 * columns;
            const svint32x2_t words =
                sme_ints((const int32_t *)(const void *)w, columns);
            w += 4 * (size_t)columns;
            s0 = add_one(s0, svget2_s32(own, 0), svget2_s32(words, 0), zero);
            s1 = add_one(s1, svget2_s32(own, 1), svget2_s32(words, 1), zero);
        }
        put(gemm, j, 0, svcreate2_f32(s0, s1), sme_bias(gemm, j, columns), columns);
    }
}
