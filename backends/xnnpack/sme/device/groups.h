// SPDX-License-Identifier: Apache-2.0
// Products with scales per block of weights: what groups*.c share.
#ifndef EMBER_XNNPACK_SME_GROUPS_H
#define EMBER_XNNPACK_SME_GROUPS_H

#include "dot.h"

// Sums are surely exact when a spread, which is half of what they can be, is so much of
// their limit: a little less than half of it, as spreads and sums themselves may be
// rounded.
#define XNN_SME_GROUP_SURE 0.498f

// A product while it runs. Columns are scaled by a power of two each, so that weights
// times their scales are float16. Zero points count from -128 on.
typedef struct groups {
    const ember_xnn_sme_t *gemm;
    float *sums;     // (most, most) of a block, behind some parts of k
    float *numbers;  // (most, most) of columns that are summed apart
    uint8_t *w;      // a block of columns as float16
    uint8_t *a;      // all rows, packed
    float *zeros;    // (m,) zero points
    float *norms;    // (parts + 2,) the largest of rows; largest, mean zero point
    uint32_t *ends;  // (parts,) of k, behind which sums are looked at
    float *lifts;    // (parts, most) of columns, before each look
    float *bounds;   // (parts + 1, most) of sums at the beginning and at each look
    float *marks;    // (most,) columns of this block that are summed apart: not zero
    uint32_t *list;  // of all such columns
    uint32_t *panel; // a block of them, packed
    const uint8_t *from; // the block of columns, packed
    const float *extra;  // what is behind its blocks of weights, see gemm.h
    uint32_t most;       // rows and columns of a block
    uint32_t part;       // of k, that has a norm
    uint32_t parts;
    uint32_t looks;   // 0: block by block
    float deviations; // of sums of products that looks are planned with
    uint32_t listed;  // columns
    uint32_t rows;    // of this block
    uint32_t columns;
    uint32_t row;
    uint32_t column;
} groups_t;

// Rows without zero points as float16; their norms in each part of k.
void xnn_sme_groups_rows(const groups_t *groups) __arm_streaming __arm_inout("za");

// Weights of the block of columns times their scales as float16.
void xnn_sme_groups_columns(const groups_t *groups) __arm_streaming __arm_preserves(
    "za");

// How sums of a block of columns are added: where they are looked at, with what bounds,
// and which columns are summed apart. `again`: those stay.
void xnn_sme_groups_plan(groups_t *groups,
                         bool again) __arm_streaming __arm_preserves("za");

// How far sums may be from the middle of what they are at both ends of a part, by the
// limit.
svfloat32x2_t
xnn_sme_groups_spread(const groups_t *groups,
                      uint32_t part) __arm_streaming __arm_preserves("za");

// The same of each part, not by the limit, to `bounds` behind the first; their sum.
svfloat32x2_t
xnn_sme_groups_spreads(const groups_t *groups) __arm_streaming __arm_preserves("za");

// Bounds in place of what sums may spread before each look.
void xnn_sme_groups_bounds(const groups_t *groups) __arm_streaming __arm_preserves(
    "za");

// The block of rows and columns to the output.
void xnn_sme_groups_block(groups_t *groups) __arm_streaming __arm_inout("za");

// Tiles 0 to 3 become the sums of a block, divided by `back`. No: they are not.
bool xnn_sme_groups_add(groups_t *groups) __arm_streaming __arm_inout("za");

// Tiles become what sums begin with.
void xnn_sme_groups_begin(const groups_t *groups) __arm_streaming __arm_inout("za");

// Adds the products of k from `k` to `end` to the tiles.
void xnn_sme_groups_multiply(const groups_t *groups, uint32_t k,
                             uint32_t end) __arm_streaming __arm_inout("za");

// Adds zero points times a number of each column.
void xnn_sme_groups_lift(const groups_t *groups,
                         svfloat32x2_t columns) __arm_streaming __arm_inout("za");

// Memory to tiles.
void xnn_sme_groups_load(const groups_t *groups) __arm_streaming __arm_inout("za");

// Sums of tiles before number k become those before `end` as XNNPACK adds, block by
// block, also in memory. No: sums of a block are not exact.
bool xnn_sme_groups_blocks(const groups_t *groups, uint32_t k,
                           uint32_t end) __arm_streaming __arm_inout("za");

// Columns of the list, which are not in the output yet.
void xnn_sme_groups_apart(const groups_t *groups) __arm_streaming __arm_inout("za");

// Numbers of one row and a block of columns, which begins at `w`.
void xnn_sme_groups_row(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t column,
                        const uint8_t *w) __arm_streaming __arm_preserves("za");

// Adds the products of a row, which begins at `a`, with a block of columns to four sums
// each; the first begins with `starts`. Those are added, too. In 1/16 of their scales.
svfloat32x2_t
xnn_sme_groups_half(const ember_xnn_sme_t *gemm, const int8_t *a, const uint8_t *w,
                    uint32_t columns,
                    svfloat32x2_t starts) __arm_streaming __arm_preserves("za");

// Words of a packed column.
static inline size_t
sme_group_column(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    return xnn_sme_group_column(groups->gemm->k, groups->gemm->dynamic.block);
}

// Where a part of k begins.
static inline uint32_t
sme_group_k(const groups_t *groups,
            uint32_t part) __arm_streaming __arm_preserves("za") {
    const uint32_t k = groups->part * part;
    return k < groups->gemm->k ? k : groups->gemm->k;
}

// A number of the columns: one of XNN_SME_GROUP_*.
static inline svfloat32x2_t
sme_group_extra(const groups_t *groups,
                uint32_t number) __arm_streaming __arm_preserves("za") {
    return sme_floats(groups->extra + (size_t)number * groups->columns,
                      groups->columns);
}

// A number of the columns in a part.
static inline svfloat32x2_t
sme_group_number(const groups_t *groups, uint32_t part,
                 uint32_t number) __arm_streaming __arm_preserves("za") {
    return sme_group_extra(groups,
                           XNN_SME_GROUP_PARTS + XNN_SME_GROUP_NUMBERS * part + number);
}

// Sums of a row, divided by `back`, become numbers without bounds.
static inline svfloat32x2_t
sme_group_numbers(svfloat32x2_t sums, svfloat32x2_t back, float scale,
                  svfloat32x2_t bias) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t t0 = svmul_f32_x(all, svget2_f32(sums, 0), svget2_f32(back, 0));
    const svfloat32_t t1 = svmul_f32_x(all, svget2_f32(sums, 1), svget2_f32(back, 1));
    const svfloat32_t x0 = svmul_n_f32_x(all, t0, scale);
    const svfloat32_t x1 = svmul_n_f32_x(all, t1, scale);
    return svcreate2_f32(svadd_f32_x(all, x0, svget2_f32(bias, 0)),
                         svadd_f32_x(all, x1, svget2_f32(bias, 1)));
}

// Writes two vectors of numbers in bounds.
static inline void sme_group_put(const ember_xnn_sme_t *gemm, size_t at,
                                 svfloat32x2_t numbers, svbool_t c0,
                                 svbool_t c1) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t y0 = svmax_n_f32_x(all, svget2_f32(numbers, 0), gemm->real.low);
    const svfloat32_t y1 = svmax_n_f32_x(all, svget2_f32(numbers, 1), gemm->real.low);
    sme_put(gemm, at, svmin_n_f32_x(all, y0, gemm->real.high),
            svmin_n_f32_x(all, y1, gemm->real.high), c0, c1);
}

#endif // EMBER_XNNPACK_SME_GROUPS_H
