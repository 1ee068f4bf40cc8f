// SPDX-License-Identifier: Apache-2.0
// float32 products by FMOPA, two by two tiles; products of one row by FMLA, because
// outer products would waste all other rows. Each sum is fused, in order, after the
// bias, for any vector length.
#include "sme.h"

#include <arm_sme.h>

uint32_t ember_xnn_sme_columns_f32(void) {
    return 2 * (uint32_t)svcntsw();
}

// A block of rows and columns.
typedef struct block {
    const float *a; // packed rows: (k, rows)
    const float *w; // packed columns: (k, columns)
    uint32_t rows;
    uint32_t columns;
    uint32_t row; // where it lies in y
    uint32_t column;
} block_t;

// --- rows that lie behind each other become columns ----------------------------------

// Up to a vector's rows and columns at `from`, turned over by a tile.
static void turn(const float *from, size_t stride, uint32_t rows, uint32_t count,
                 float *to, size_t to_stride) __arm_streaming __arm_inout("za") {
    const svbool_t across = svwhilelt_b32_u32(0, count);
    const svbool_t down = svwhilelt_b32_u32(0, rows);
    uint32_t i = 0;
    for (; i + 4 <= rows; i += 4, from += 4 * stride) {
        svld1_hor_za32(0, i, across, from);
        svld1_hor_za32(0, i + 1, across, from + stride);
        svld1_hor_za32(0, i + 2, across, from + 2 * stride);
        svld1_hor_za32(0, i + 3, across, from + 3 * stride);
    }
    for (; i < rows; i++, from += stride) {
        svld1_hor_za32(0, i, across, from);
    }
    for (i = 0; i + 4 <= count; i += 4, to += 4 * to_stride) {
        svst1_ver_za32(0, i, down, to);
        svst1_ver_za32(0, i + 1, down, to + to_stride);
        svst1_ver_za32(0, i + 2, down, to + 2 * to_stride);
        svst1_ver_za32(0, i + 3, down, to + 3 * to_stride);
    }
    for (; i < count; i++, to += to_stride) {
        svst1_ver_za32(0, i, down, to);
    }
}

// `count` rows of a from `row` on to scratch, as (k, count).
static void pack_rows(const ember_xnn_sme_f32_t *gemm, uint32_t row,
                      uint32_t count) __arm_streaming __arm_inout("za") {
    const uint32_t words = (uint32_t)svcntw();
    const float *from = gemm->a + (size_t)row * gemm->k;
    for (uint32_t r = 0; r < count; r += words) {
        const uint32_t rows = count - r < words ? count - r : words;
        for (uint32_t k = 0; k < gemm->k; k += words) {
            const uint32_t left = gemm->k - k;
            turn(from + (size_t)r * gemm->k + k, gemm->k, rows,
                 left < words ? left : words, gemm->scratch + (size_t)k * count + r,
                 count);
        }
    }
}

// --- products ------------------------------------------------------------------------

// Tiles 0 to 3 begin with the bias: one times it.
static void begin(const ember_xnn_sme_f32_t *gemm,
                  const block_t *block) __arm_streaming __arm_inout("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svfloat32_t ones = svdup_f32(1.0f);
    svzero_za();
    if (gemm->bias != NULL) {
        const float *bias = gemm->bias + block->column;
        const svbool_t p0 = svwhilelt_b32_u32(0, block->columns);
        const svbool_t p1 = svwhilelt_b32_u32(words, block->columns);
        const svbool_t all = svptrue_b32();
        const svfloat32_t b0 = svld1_f32(p0, bias);
        const svfloat32_t b1 = svld1_f32(p1, bias + words);
        svmopa_za32_f32_m(0, all, p0, ones, b0);
        svmopa_za32_f32_m(1, all, p1, ones, b1);
        svmopa_za32_f32_m(2, all, p0, ones, b0);
        svmopa_za32_f32_m(3, all, p1, ones, b1);
    }
}

// Whole tiles. Eight steps use all offsets that loads can have.
static void multiply(const float *a, const float *w,
                     uint32_t k) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const ptrdiff_t step = 16 * (ptrdiff_t)svcntw();
    a += step / 2;
    w += step / 2;
    // Keeps the compiler from counting offsets from the old start: half would be too
    // far for a load.
    __asm("" : "+r"(a), "+r"(w));
    for (; k >= 8; k -= 8, a += step, w += step) {
#pragma clang loop unroll(full)
        for (int i = -8; i < 8; i += 2) {
            const svfloat32_t a0 = svld1_vnum_f32(all, a, i);
            const svfloat32_t a1 = svld1_vnum_f32(all, a, i + 1);
            const svfloat32_t w0 = svld1_vnum_f32(all, w, i);
            const svfloat32_t w1 = svld1_vnum_f32(all, w, i + 1);
            svmopa_za32_f32_m(0, all, all, a0, w0);
            svmopa_za32_f32_m(1, all, all, a0, w1);
            svmopa_za32_f32_m(2, all, all, a1, w0);
            svmopa_za32_f32_m(3, all, all, a1, w1);
        }
    }
    a -= step / 2;
    w -= step / 2;
    for (; k > 0; k--, a += step / 8, w += step / 8) {
        const svfloat32_t a0 = svld1_f32(all, a);
        const svfloat32_t a1 = svld1_vnum_f32(all, a, 1);
        const svfloat32_t w0 = svld1_f32(all, w);
        const svfloat32_t w1 = svld1_vnum_f32(all, w, 1);
        svmopa_za32_f32_m(0, all, all, a0, w0);
        svmopa_za32_f32_m(1, all, all, a0, w1);
        svmopa_za32_f32_m(2, all, all, a1, w0);
        svmopa_za32_f32_m(3, all, all, a1, w1);
    }
}

// Parts of tiles.
static void multiply_part(const block_t *block,
                          uint32_t k) __arm_streaming __arm_inout("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t r0 = svwhilelt_b32_u32(0, block->rows);
    const svbool_t r1 = svwhilelt_b32_u32(words, block->rows);
    const svbool_t c0 = svwhilelt_b32_u32(0, block->columns);
    const svbool_t c1 = svwhilelt_b32_u32(words, block->columns);
    const float *a = block->a;
    const float *w = block->w;
    for (; k > 0; k--, a += block->rows, w += block->columns) {
        const svfloat32_t a0 = svld1_f32(r0, a);
        const svfloat32_t a1 = svld1_vnum_f32(r1, a, 1);
        const svfloat32_t w0 = svld1_f32(c0, w);
        const svfloat32_t w1 = svld1_vnum_f32(c1, w, 1);
        svmopa_za32_f32_m(0, r0, c0, a0, w0);
        svmopa_za32_f32_m(1, r0, c1, a0, w1);
        svmopa_za32_f32_m(2, r1, c0, a1, w0);
        svmopa_za32_f32_m(3, r1, c1, a1, w1);
    }
}

// Four rows of tiles beside each other at a time: offsets are free, sums are not.
static void store(const ember_xnn_sme_f32_t *gemm,
                  const block_t *block) __arm_streaming __arm_inout("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t c0 = svwhilelt_b32_u32(0, block->columns);
    const svbool_t c1 = svwhilelt_b32_u32(words, block->columns);
    const uint32_t upper = block->rows < words ? block->rows : words;
    const uint32_t lower = block->rows - upper;
    const size_t n = gemm->n;
    float *y = gemm->y + block->row * n + block->column;
    uint32_t i = 0;
    for (; i + 4 <= upper; i += 4) {
        svst1_hor_za32(0, i, c0, y);
        svst1_hor_za32(1, i, c1, y + words);
        y += n;
        svst1_hor_za32(0, i + 1, c0, y);
        svst1_hor_za32(1, i + 1, c1, y + words);
        y += n;
        svst1_hor_za32(0, i + 2, c0, y);
        svst1_hor_za32(1, i + 2, c1, y + words);
        y += n;
        svst1_hor_za32(0, i + 3, c0, y);
        svst1_hor_za32(1, i + 3, c1, y + words);
        y += n;
    }
    for (; i < upper; i++, y += n) {
        svst1_hor_za32(0, i, c0, y);
        svst1_hor_za32(1, i, c1, y + words);
    }
    for (i = 0; i + 4 <= lower; i += 4) {
        svst1_hor_za32(2, i, c0, y);
        svst1_hor_za32(3, i, c1, y + words);
        y += n;
        svst1_hor_za32(2, i + 1, c0, y);
        svst1_hor_za32(3, i + 1, c1, y + words);
        y += n;
        svst1_hor_za32(2, i + 2, c0, y);
        svst1_hor_za32(3, i + 2, c1, y + words);
        y += n;
        svst1_hor_za32(2, i + 3, c0, y);
        svst1_hor_za32(3, i + 3, c1, y + words);
        y += n;
    }
    for (; i < lower; i++, y += n) {
        svst1_hor_za32(2, i, c0, y);
        svst1_hor_za32(3, i, c1, y + words);
    }
}

// Bounds what store() wrote. NaN stays.
static void limit(const ember_xnn_sme_f32_t *gemm,
                  const block_t *block) __arm_streaming __arm_preserves("za") {
    const uint32_t words = (uint32_t)svcntw();
    for (uint32_t i = 0; i < block->rows; i++) {
        float *y = gemm->y + (size_t)(block->row + i) * gemm->n + block->column;
        for (uint32_t j = 0; j < block->columns; j += words) {
            const svbool_t some = svwhilelt_b32_u32(j, block->columns);
            const svfloat32_t x = svld1_f32(some, y + j);
            const svfloat32_t low = svmax_n_f32_x(some, x, gemm->low);
            svst1_f32(some, y + j, svmin_n_f32_x(some, low, gemm->high));
        }
    }
}

static void run_block(const ember_xnn_sme_f32_t *gemm,
                      const block_t *block) __arm_streaming __arm_inout("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    begin(gemm, block);
    if (block->rows == most && block->columns == most) {
        multiply(block->a, block->w, gemm->k);
    } else {
        multiply_part(block, gemm->k);
    }
    store(gemm, block);
    if (gemm->low > -__builtin_inff() || gemm->high < __builtin_inff()) {
        limit(gemm, block);
    }
}

// --- one row -------------------------------------------------------------------------

// Two vectors of sums, of columns [column, column + columns).
static void run_row(const ember_xnn_sme_f32_t *gemm, const float *w, uint32_t column,
                    uint32_t columns) __arm_streaming {
    const ptrdiff_t words = (ptrdiff_t)svcntw();
    const svbool_t all = svptrue_b32();
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)words, columns);
    const float *a = gemm->a;
    uint32_t k = gemm->k;
    svfloat32_t s0 = svdup_f32(0.0f);
    svfloat32_t s1 = svdup_f32(0.0f);
    if (gemm->bias != NULL) {
        s0 = svld1_f32(c0, gemm->bias + column);
        s1 = svld1_vnum_f32(c1, gemm->bias + column, 1);
    }
    if (columns == 2 * words) {
        w += 8 * words;
        __asm("" : "+r"(w)); // as in multiply()
        for (; k >= 8; k -= 8, a += 8, w += 16 * words) {
            const svfloat32_t x = svld1rq_f32(all, a);
            const svfloat32_t y = svld1rq_f32(all, a + 4);
            s0 = svmla_lane_f32(s0, svld1_vnum_f32(all, w, -8), x, 0);
            s1 = svmla_lane_f32(s1, svld1_vnum_f32(all, w, -7), x, 0);
            s0 = svmla_lane_f32(s0, svld1_vnum_f32(all, w, -6), x, 1);
            s1 = svmla_lane_f32(s1, svld1_vnum_f32(all, w, -5), x, 1);
            s0 = svmla_lane_f32(s0, svld1_vnum_f32(all, w, -4), x, 2);
            s1 = svmla_lane_f32(s1, svld1_vnum_f32(all, w, -3), x, 2);
            s0 = svmla_lane_f32(s0, svld1_vnum_f32(all, w, -2), x, 3);
            s1 = svmla_lane_f32(s1, svld1_vnum_f32(all, w, -1), x, 3);
            s0 = svmla_lane_f32(s0, svld1_f32(all, w), y, 0);
            s1 = svmla_lane_f32(s1, svld1_vnum_f32(all, w, 1), y, 0);
            s0 = svmla_lane_f32(s0, svld1_vnum_f32(all, w, 2), y, 1);
            s1 = svmla_lane_f32(s1, svld1_vnum_f32(all, w, 3), y, 1);
            s0 = svmla_lane_f32(s0, svld1_vnum_f32(all, w, 4), y, 2);
            s1 = svmla_lane_f32(s1, svld1_vnum_f32(all, w, 5), y, 2);
            s0 = svmla_lane_f32(s0, svld1_vnum_f32(all, w, 6), y, 3);
            s1 = svmla_lane_f32(s1, svld1_vnum_f32(all, w, 7), y, 3);
        }
        w -= 8 * words;
    }
    for (; k > 0; k--, a++, w += columns) {
        s0 = svmla_n_f32_x(c0, s0, svld1_f32(c0, w), *a);
        s1 = svmla_n_f32_x(c1, s1, svld1_vnum_f32(c1, w, 1), *a);
    }
    s0 = svmin_n_f32_x(c0, svmax_n_f32_x(c0, s0, gemm->low), gemm->high);
    s1 = svmin_n_f32_x(c1, svmax_n_f32_x(c1, s1, gemm->low), gemm->high);
    svst1_f32(c0, gemm->y + column, s0);
    svst1_vnum_f32(c1, gemm->y + column, 1, s1);
}

// Not inlined: clang 19 loses the return address of a function that enters streaming
// mode and calls nothing.
__attribute__((noinline)) static void
run_one(const ember_xnn_sme_f32_t *gemm) __arm_streaming {
    const uint32_t most = 2 * (uint32_t)svcntw();
    for (uint32_t j = 0; j < gemm->n; j += most) {
        const uint32_t columns = gemm->n - j < most ? gemm->n - j : most;
        run_row(gemm, gemm->w + (size_t)j * gemm->k, j, columns);
    }
}

__attribute__((noinline)) static void
run_many(const ember_xnn_sme_f32_t *gemm) __arm_streaming __arm_inout("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    for (uint32_t i = 0; i < gemm->m; i += most) {
        const uint32_t rows = gemm->m - i < most ? gemm->m - i : most;
        pack_rows(gemm, i, rows);
        for (uint32_t j = 0; j < gemm->n; j += most) {
            const uint32_t columns = gemm->n - j < most ? gemm->n - j : most;
            const block_t block = {
                gemm->scratch, gemm->w + (size_t)j * gemm->k, rows, columns, i, j};
            run_block(gemm, &block);
        }
    }
}

__arm_locally_streaming static void start_one(const ember_xnn_sme_f32_t *gemm) {
    run_one(gemm);
}

__arm_new("za") __arm_locally_streaming static void start_many(
    const ember_xnn_sme_f32_t *gemm) {
    run_many(gemm);
}

void ember_xnn_gemm_f32_sme(const ember_xnn_sme_f32_t *gemm) {
    if (gemm->m == 1) {
        start_one(gemm);
    } else {
        start_many(gemm);
    }
}
