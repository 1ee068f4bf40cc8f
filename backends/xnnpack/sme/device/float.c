// SPDX-License-Identifier: Apache-2.0
// float32, and float16 and bfloat16 with sums in float32. Sums begin with the bias and
// are fused, in order; an outer product of float16 or bfloat16 adds two products in one
// step, so results may differ in the last place from those of kernels that add one at a
// time.
#include "block.h"

static void begin(const ember_xnn_sme_t *gemm,
                  const sme_block_t *block) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t ones = svdup_f32(1.0f);
    svzero_za();
    if (gemm->real.bias != NULL) {
        const svfloat32x2_t bias = sme_bias(gemm, block->column, block->columns);
        svmopa_za32_f32_m(0, all, all, ones, svget2_f32(bias, 0));
        svmopa_za32_f32_m(1, all, all, ones, svget2_f32(bias, 1));
        svmopa_za32_f32_m(2, all, all, ones, svget2_f32(bias, 0));
        svmopa_za32_f32_m(3, all, all, ones, svget2_f32(bias, 1));
    }
}

// NaN stays NaN.
static inline svfloat32_t
bound(svfloat32_t x, svfloat32_t low,
      svfloat32_t high) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    return svmin_f32_x(all, svmax_f32_x(all, x, low), high);
}

// --- float32 -------------------------------------------------------------------------

// Rows of adjacent tiles, four at a time: offsets are free, additions are not.
static inline __attribute__((always_inline)) void
store(float *y, size_t n, bool lower, uint32_t rows, svbool_t c0,
      svbool_t c1) __arm_streaming __arm_inout("za") {
    const size_t words = svcntw();
    uint32_t i = 0;
    for (; i + 4 <= rows; i += 4, y += 4 * n) {
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j++) {
            if (lower) {
                svst1_hor_za32(2, i + j, c0, y + j * n);
                svst1_hor_za32(3, i + j, c1, y + j * n + words);
            } else {
                svst1_hor_za32(0, i + j, c0, y + j * n);
                svst1_hor_za32(1, i + j, c1, y + j * n + words);
            }
        }
    }
    for (; i < rows; i++, y += n) {
        const svint32_t left = sme_row(lower, false, i);
        const svint32_t right = sme_row(lower, true, i);
        svst1_f32(c0, y, svreinterpret_f32_s32(left));
        svst1_vnum_f32(c1, y, 1, svreinterpret_f32_s32(right));
    }
}

// Like store(), with bounds.
static inline __attribute__((always_inline)) void
store_bounded(const ember_xnn_sme_t *gemm, float *y, bool lower, uint32_t rows,
              svbool_t c0, svbool_t c1) __arm_streaming __arm_inout("za") {
    const svfloat32_t low = svdup_f32(gemm->real.low);
    const svfloat32_t high = svdup_f32(gemm->real.high);
    const size_t n = gemm->n;
    for (uint32_t i = 0; i < rows; i++, y += n) {
        const svfloat32_t left = svreinterpret_f32_s32(sme_row(lower, false, i));
        const svfloat32_t right = svreinterpret_f32_s32(sme_row(lower, true, i));
        svst1_f32(c0, y, bound(left, low, high));
        svst1_vnum_f32(c1, y, 1, bound(right, low, high));
    }
}

static void end_f32(const ember_xnn_sme_t *gemm,
                    const sme_block_t *block) __arm_streaming __arm_inout("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t c0 = svwhilelt_b32_u32(0, block->columns);
    const svbool_t c1 = svwhilelt_b32_u32(words, block->columns);
    const uint32_t upper = block->rows < words ? block->rows : words;
    const uint32_t lower = block->rows - upper;
    float *y = (float *)gemm->y + (size_t)block->row * gemm->n + block->column;
    float *next = y + (size_t)upper * gemm->n;
    if (sme_bounded(gemm)) {
        store_bounded(gemm, y, false, upper, c0, c1);
        store_bounded(gemm, next, true, lower, c0, c1);
    } else {
        store(y, gemm->n, false, upper, c0, c1);
        store(next, gemm->n, true, lower, c0, c1);
    }
}

static void row_f32(const ember_xnn_sme_t *gemm, const float *w, uint32_t column,
                    uint32_t columns) __arm_streaming __arm_preserves("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32(words, columns);
    const float *a = gemm->a;
    float *y = (float *)gemm->y + column;
    uint32_t k = gemm->k;
    svfloat32x2_t sums = sme_bias(gemm, column, columns);
    if (columns == 2 * words) {
        sums = xnn_sme_f32_dot(sums, a, w, k / 4);
        a += k & ~UINT32_C(3);
        w += (size_t)(k & ~UINT32_C(3)) * columns;
        k &= 3;
    }
    svfloat32_t s0 = svget2_f32(sums, 0);
    svfloat32_t s1 = svget2_f32(sums, 1);
    for (; k > 0; k--, a++, w += columns) {
        s0 = svmla_n_f32_x(c0, s0, svld1_f32(c0, w), *a);
        s1 = svmla_n_f32_x(c1, s1, svld1_vnum_f32(c1, w, 1), *a);
    }
    svst1_f32(c0, y, bound(s0, svdup_f32(gemm->real.low), svdup_f32(gemm->real.high)));
    svst1_vnum_f32(c1, y, 1,
                   bound(s1, svdup_f32(gemm->real.low), svdup_f32(gemm->real.high)));
}

static void one_f32(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    for (uint32_t j = 0; j < gemm->n; j += most) {
        const uint32_t columns = gemm->n - j < most ? gemm->n - j : most;
        row_f32(gemm, (const float *)gemm->w + (size_t)j * gemm->k, j, columns);
    }
}

// --- float16, bfloat16 ---------------------------------------------------------------

static inline __attribute__((always_inline)) svuint32_t
narrow(svfloat32_t x, const bool bf16) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    return bf16 ? svreinterpret_u32_bf16(svcvt_bf16_f32_x(all, x))
                : svreinterpret_u32_f16(svcvt_f16_f32_x(all, x));
}

static inline __attribute__((always_inline)) void
put_half(uint16_t *y, svfloat32_t left, svfloat32_t right, svbool_t c0, svbool_t c1,
         const bool bf16) __arm_streaming __arm_preserves("za") {
    svst1h_u32(c0, y, narrow(left, bf16));
    svst1h_vnum_u32(c1, y, 1, narrow(right, bf16));
}

static inline __attribute__((always_inline)) void
store_half(const ember_xnn_sme_t *gemm, uint16_t *y, bool lower, uint32_t rows,
           svbool_t c0, svbool_t c1,
           const bool bf16) __arm_streaming __arm_inout("za") {
    const svfloat32_t low = svdup_f32(gemm->real.low);
    const svfloat32_t high = svdup_f32(gemm->real.high);
    const size_t n = gemm->n;
    for (uint32_t i = 0; i < rows; i++, y += n) {
        const svfloat32_t left = svreinterpret_f32_s32(sme_row(lower, false, i));
        const svfloat32_t right = svreinterpret_f32_s32(sme_row(lower, true, i));
        put_half(y, bound(left, low, high), bound(right, low, high), c0, c1, bf16);
    }
}

static inline __attribute__((always_inline)) void
end_half(const ember_xnn_sme_t *gemm, const sme_block_t *block,
         const bool bf16) __arm_streaming __arm_inout("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t c0 = svwhilelt_b32_u32(0, block->columns);
    const svbool_t c1 = svwhilelt_b32_u32(words, block->columns);
    const uint32_t upper = block->rows < words ? block->rows : words;
    uint16_t *y = (uint16_t *)gemm->y + (size_t)block->row * gemm->n + block->column;
    store_half(gemm, y, false, upper, c0, c1, bf16);
    store_half(gemm, y + (size_t)upper * gemm->n, true, block->rows - upper, c0, c1,
               bf16);
}

static void end_f16(const ember_xnn_sme_t *gemm,
                    const sme_block_t *block) __arm_streaming __arm_inout("za") {
    end_half(gemm, block, false);
}

static void end_bf16(const ember_xnn_sme_t *gemm,
                     const sme_block_t *block) __arm_streaming __arm_inout("za") {
    end_half(gemm, block, true);
}

// Adds two products to each sum: the numbers of a `pair` by words of columns.
static inline __attribute__((always_inline)) svfloat32_t
add_pair(svfloat32_t sums, svuint32_t w, svuint16_t pair,
         const bool bf16) __arm_streaming __arm_preserves("za") {
    if (bf16) {
        const svbfloat16_t x = svreinterpret_bf16_u16(pair);
        const svbfloat16_t columns = svreinterpret_bf16_u32(w);
        sums = svbfmlalb_lane_f32(sums, columns, x, 0);
        return svbfmlalt_lane_f32(sums, columns, x, 1);
    }
    const svfloat16_t x = svreinterpret_f16_u16(pair);
    const svfloat16_t columns = svreinterpret_f16_u32(w);
    sums = svmlalb_lane_f32(sums, columns, x, 0);
    return svmlalt_lane_f32(sums, columns, x, 1);
}

static inline __attribute__((always_inline)) void
row_half(const ember_xnn_sme_t *gemm, const uint16_t *w, uint32_t column,
         uint32_t columns, const bool bf16) __arm_streaming __arm_preserves("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32(words, columns);
    const uint16_t *a = gemm->a;
    uint32_t k = gemm->k;
    svfloat32x2_t sums = sme_bias(gemm, column, columns);
    if (columns == 2 * words) {
        sums = bf16 ? xnn_sme_bf16_dot(sums, a, w, k / 8)
                    : xnn_sme_f16_dot(sums, a, w, k / 8);
        a += k & ~UINT32_C(7);
        w += (size_t)(k & ~UINT32_C(7)) * columns;
        k &= 7;
    }
    svfloat32_t s0 = svget2_f32(sums, 0);
    svfloat32_t s1 = svget2_f32(sums, 1);
    for (; k > 0; k -= k > 1 ? 2 : 1, a += 2, w += 2 * columns) {
        const svuint16_t pair = svld1rq_u16(svwhilelt_b16_u32(0, k), a);
        s0 = add_pair(s0, svld1_u32(c0, (const void *)w), pair, bf16);
        s1 = add_pair(s1, svld1_vnum_u32(c1, (const void *)w, 1), pair, bf16);
    }
    const svfloat32_t low = svdup_f32(gemm->real.low);
    const svfloat32_t high = svdup_f32(gemm->real.high);
    put_half((uint16_t *)gemm->y + column, bound(s0, low, high), bound(s1, low, high),
             c0, c1, bf16);
}

static inline __attribute__((always_inline)) void
one_half(const ember_xnn_sme_t *gemm,
         const bool bf16) __arm_streaming __arm_preserves("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const size_t column = 2 * (size_t)xnn_sme_words(gemm->kind, gemm->k);
    for (uint32_t j = 0; j < gemm->n; j += most) {
        const uint32_t columns = gemm->n - j < most ? gemm->n - j : most;
        row_half(gemm, (const uint16_t *)gemm->w + j * column, j, columns, bf16);
    }
}

static void one_f16(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    one_half(gemm, false);
}

static void
one_bf16(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    one_half(gemm, true);
}

const sme_kind_t xnn_sme_f32 = {begin, xnn_sme_f32_whole, xnn_sme_f32_part, end_f32,
                                one_f32};
const sme_kind_t xnn_sme_f16 = {begin, xnn_sme_f16_whole, xnn_sme_f16_part, end_f16,
                                one_f16};
const sme_kind_t xnn_sme_bf16 = {begin, xnn_sme_bf16_whole, xnn_sme_bf16_part, end_bf16,
                                 one_bf16};
