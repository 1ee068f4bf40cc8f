// SPDX-License-Identifier: Apache-2.0
// A block of the output, two by two tiles: shared by the files of this folder.
#ifndef EMBER_XNNPACK_SME_BLOCK_H
#define EMBER_XNNPACK_SME_BLOCK_H

#include <arm_sme.h>

#include "backends/xnnpack/sme/gemm.h"

typedef struct sme_block {
    const uint8_t *a; // packed rows: (words, lanes) words
    const uint8_t *w; // packed columns
    uint32_t words;   // of a
    uint32_t lanes;   // rows * step
    uint32_t rows;
    uint32_t step; // rows of a tile for each row of a: 1 or 2
    uint32_t columns;
    uint32_t row; // where it is in y
    uint32_t column;
} sme_block_t;

// The functions of a kind of product.
typedef struct sme_kind {
    // Tiles 0 to 3 begin with the bias.
    void (*begin)(const ember_xnn_sme_t *gemm,
                  const sme_block_t *block) __arm_streaming __arm_inout("za");
    // Adds the products; multiply.S.
    void (*whole)(const uint8_t *a, const uint8_t *w,
                  size_t words) __arm_streaming __arm_inout("za");
    void (*part)(const uint8_t *a, const uint8_t *w, size_t words, size_t lanes,
                 size_t columns) __arm_streaming __arm_inout("za");
    // Writes y.
    void (*end)(const ember_xnn_sme_t *gemm,
                const sme_block_t *block) __arm_streaming __arm_inout("za");
    // A product of one row, without tiles.
    void (*one)(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za");
} sme_kind_t;

extern const sme_kind_t xnn_sme_f32;
extern const sme_kind_t xnn_sme_f16;
extern const sme_kind_t xnn_sme_bf16;
extern const sme_kind_t xnn_sme_qs8;
extern const sme_kind_t xnn_sme_qd8;
extern const sme_kind_t xnn_sme_qd8_s4;

// Products with scales per block of weights: to float32, and row by row.
void xnn_sme_groups(const ember_xnn_sme_t *gemm) __arm_streaming __arm_inout("za");
void xnn_sme_groups_each(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves(
    "za");

// Static int8 of rows with few products.
void xnn_sme_few(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za");

// multiply.S: adds products of blocks to tiles 0 and 1 (upper), 2 and 3 (lower).
// `whole` takes two full vectors of lanes and of columns, `part` up to that.
#define XNN_SME_MULTIPLY(NAME)                                                         \
    void xnn_sme_##NAME##_whole(const uint8_t *a, const uint8_t *w,                    \
                                size_t words) __arm_streaming __arm_inout("za");       \
    void xnn_sme_##NAME##_part(const uint8_t *a, const uint8_t *w, size_t words,       \
                               size_t lanes,                                           \
                               size_t columns) __arm_streaming __arm_inout("za")
XNN_SME_MULTIPLY(f32);
XNN_SME_MULTIPLY(f16);
XNN_SME_MULTIPLY(bf16);
XNN_SME_MULTIPLY(s8);
XNN_SME_MULTIPLY(s4);

// dot.S: adds products of one row, 16 bytes of it a step, with whole blocks of columns.
svfloat32x2_t xnn_sme_f32_dot(svfloat32x2_t sums, const void *a, const void *w,
                              size_t steps) __arm_streaming __arm_preserves("za");
svfloat32x2_t xnn_sme_f16_dot(svfloat32x2_t sums, const void *a, const void *w,
                              size_t steps) __arm_streaming __arm_preserves("za");
svfloat32x2_t xnn_sme_bf16_dot(svfloat32x2_t sums, const void *a, const void *w,
                               size_t steps) __arm_streaming __arm_preserves("za");
svint32x2_t xnn_sme_s8_dot(svint32x2_t sums, const void *a, const void *w,
                           size_t steps) __arm_streaming __arm_preserves("za");
svint32x2_t xnn_sme_s4_dot(svint32x2_t sums, const void *a, const void *w,
                           size_t steps) __arm_streaming __arm_preserves("za");

// The same with a scale per column and block of weights of 32 * `steps` products,
// stored after its words: as float16 above the block's sum. Elements count from -128
// on. Sums are in units of 1/16.
svfloat32x2_t xnn_sme_b4_dot(svfloat32x2_t sums, const void *a, const void *w,
                             size_t blocks,
                             size_t steps) __arm_streaming __arm_preserves("za");

// Transposes `count` rows of `bytes` bytes, `stride` bytes apart, to (words, count *
// step) words: number 0 to step - 1 of a word are the first row's. Uses tile 0.
void xnn_sme_turn(const uint8_t *from, size_t stride, uint32_t count, uint32_t bytes,
                  uint32_t step, uint32_t words,
                  uint8_t *to) __arm_streaming __arm_inout("za");

// Packs matrix b, (k, n), or (n, k) if turned, like weights.
void xnn_sme_pack_columns(const ember_xnn_sme_t *gemm, const uint8_t *b,
                          uint8_t *to) __arm_streaming __arm_inout("za");

// Rows `row` to row + count of a convolution, one after the other.
void xnn_sme_gather(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t count,
                    uint8_t *to) __arm_streaming __arm_preserves("za");

// Two vectors of per-column values from `from` on; the second may be past `columns`.
static inline svfloat32x2_t
sme_floats(const float *from, uint32_t columns) __arm_streaming __arm_preserves("za") {
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)svcntw(), columns);
    return svcreate2_f32(svld1_f32(c0, from), svld1_vnum_f32(c1, from, 1));
}

static inline svint32x2_t
sme_ints(const int32_t *from, uint32_t columns) __arm_streaming __arm_preserves("za") {
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)svcntw(), columns);
    return svcreate2_s32(svld1_s32(c0, from), svld1_vnum_s32(c1, from, 1));
}

// Float biases of columns, zeros if there are none.
static inline svfloat32x2_t
sme_bias(const ember_xnn_sme_t *gemm, uint32_t column,
         uint32_t columns) __arm_streaming __arm_preserves("za") {
    if (gemm->real.bias == NULL) {
        return svcreate2_f32(svdup_f32(0.0f), svdup_f32(0.0f));
    }
    const svbool_t all = svptrue_b32();
    if (!gemm->real.half_bias) {
        const svfloat32x2_t bias =
            sme_floats((const float *)gemm->real.bias + column, columns);
        if (gemm->kind != XNN_SME_F16) {
            return bias;
        }
        const svfloat16_t h0 = svcvt_f16_f32_x(all, svget2_f32(bias, 0));
        const svfloat16_t h1 = svcvt_f16_f32_x(all, svget2_f32(bias, 1));
        return svcreate2_f32(svcvt_f32_f16_x(all, h0), svcvt_f32_f16_x(all, h1));
    }
    const uint16_t *from = (const uint16_t *)gemm->real.bias + column;
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)svcntw(), columns);
    const svuint32_t b0 = svld1uh_u32(c0, from);
    const svuint32_t b1 = svld1uh_vnum_u32(c1, from, 1);
    return svcreate2_f32(svcvt_f32_f16_x(all, svreinterpret_f16_u32(b0)),
                         svcvt_f32_f16_x(all, svreinterpret_f16_u32(b1)));
}

// Whether y has bounds.
static inline bool
sme_bounded(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    return gemm->real.low > -__builtin_inff() || gemm->real.high < __builtin_inff();
}

// Row i of a tile, upper or lower, left or right.
static inline __attribute__((always_inline)) svint32_t
sme_row(bool lower, bool right, uint32_t i) __arm_streaming __arm_in("za") {
    const svbool_t all = svptrue_b32();
    const svint32_t none = svundef_s32();
    if (lower) {
        return right ? svread_hor_za32_s32_m(none, all, 3, i)
                     : svread_hor_za32_s32_m(none, all, 2, i);
    }
    return right ? svread_hor_za32_s32_m(none, all, 1, i)
                 : svread_hor_za32_s32_m(none, all, 0, i);
}

#endif // EMBER_XNNPACK_SME_BLOCK_H
