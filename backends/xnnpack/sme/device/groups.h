// SPDX-License-Identifier: Apache-2.0
// Products with scales per block of weights: shared by groups*.c.
#ifndef EMBER_XNNPACK_SME_GROUPS_H
#define EMBER_XNNPACK_SME_GROUPS_H

#include "dot.h"

// Sums are certainly exact if a spread, which is half of their possible range, is at
// most this part of their limit: a little less than half, because spreads and sums may
// be rounded themselves.
#define XNN_SME_GROUP_SURE 0.498f

// A product in progress. Each column is scaled by a power of two, so that weights times
// their scales are float16. Zero points count from -128 on.
typedef struct groups {
    const ember_xnn_sme_t *gemm;
    float *sums;     // (most, most) of a block, after some parts of k
    float *numbers;  // (most, most) of columns that are summed apart
    uint8_t *w;      // a block of columns as float16
    uint8_t *a;      // all rows, packed
    float *zeros;    // (m,) zero points
    float *norms;    // (parts + 2,) the largest of rows; largest, mean zero point
    uint32_t *ends;  // (parts,) of k, after which sums are checked
    float *lifts;    // (parts, most) of columns, before each check
    float *bounds;   // (parts + 1, most) of sums at the beginning and at each check
    float *marks;    // (most,) columns of this block that are summed apart: not zero
    uint32_t *list;  // of all such columns
    uint32_t *panel; // a block of them, packed
    const uint8_t *from; // the block of columns, packed
    const float *extra;  // what follows its blocks of weights, see gemm.h
    uint32_t most;       // rows and columns of a block
    uint32_t part;       // of k, with a norm
    uint32_t parts;
    uint32_t looks;   // checks; 0: block by block
    float deviations; // of sums of products, for planning the checks
    uint32_t listed;  // columns
    uint32_t rows;    // of this block
    uint32_t columns;
    uint32_t row;
    uint32_t column;
} groups_t;

// Rows without zero points as float16; their norms in each part of k.
void xnn_sme_groups_rows(const groups_t *groups) __arm_streaming __arm_inout("za");

// Multiplies the weights of the block of columns by their scales, as float16.
void xnn_sme_groups_columns(const groups_t *groups) __arm_streaming __arm_preserves(
    "za");

// Plans how sums of a block of columns are added: where they are checked, with what
// bounds, and which columns are summed apart. `again`: keep these columns.
void xnn_sme_groups_plan(groups_t *groups,
                         bool again) __arm_streaming __arm_preserves("za");

// How far sums may be from the middle between their values at both ends of a part,
// relative to the limit.
svfloat32x2_t
xnn_sme_groups_spread(const groups_t *groups,
                      uint32_t part) __arm_streaming __arm_preserves("za");

// The same for each part, not relative to the limit, to `bounds` after the first;
// returns their sum.
svfloat32x2_t
xnn_sme_groups_spreads(const groups_t *groups) __arm_streaming __arm_preserves("za");

// Replaces the possible spread of sums before each check by bounds.
void xnn_sme_groups_bounds(const groups_t *groups) __arm_streaming __arm_preserves(
    "za");

// Stores the block of rows and columns to the output.
void xnn_sme_groups_block(groups_t *groups) __arm_streaming __arm_inout("za");

// Tiles 0 to 3 become the sums of a block, divided by `back`. False if they are not
// exact.
bool xnn_sme_groups_add(groups_t *groups) __arm_streaming __arm_inout("za");

// Tiles become the initial sums.
void xnn_sme_groups_begin(const groups_t *groups) __arm_streaming __arm_inout("za");

// Adds the products of k from `k` to `end` to the tiles.
void xnn_sme_groups_multiply(const groups_t *groups, uint32_t k,
                             uint32_t end) __arm_streaming __arm_inout("za");

// Adds zero points times a value of each column.
void xnn_sme_groups_lift(const groups_t *groups,
                         svfloat32x2_t columns) __arm_streaming __arm_inout("za");

// Loads memory into tiles.
void xnn_sme_groups_load(const groups_t *groups) __arm_streaming __arm_inout("za");

// Turns sums in tiles before product k into those before `end` as XNNPACK adds, block
// by block, also in memory. False if sums of a block are not exact.
bool xnn_sme_groups_blocks(const groups_t *groups, uint32_t k,
                           uint32_t end) __arm_streaming __arm_inout("za");

// Computes the columns of the list, which are not in the output yet.
void xnn_sme_groups_apart(const groups_t *groups) __arm_streaming __arm_inout("za");

// Results of one row and a block of columns, which begins at `w`.
void xnn_sme_groups_row(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t column,
                        const uint8_t *w) __arm_streaming __arm_preserves("za");

// Adds the products of a row, which begins at `a`, with a block of columns to four sums
// each; the first begins with `starts`. Also adds up these. In 1/16 of their scales.
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

// A value of each column: one of XNN_SME_GROUP_*.
static inline svfloat32x2_t
sme_group_extra(const groups_t *groups,
                uint32_t number) __arm_streaming __arm_preserves("za") {
    return sme_floats(groups->extra + (size_t)number * groups->columns,
                      groups->columns);
}

// A value of each column in a part.
static inline svfloat32x2_t
sme_group_number(const groups_t *groups, uint32_t part,
                 uint32_t number) __arm_streaming __arm_preserves("za") {
    return sme_group_extra(groups,
                           XNN_SME_GROUP_PARTS + XNN_SME_GROUP_NUMBERS * part + number);
}

// Sums of a row, divided by `back`, become results without bounds.
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

// Stores two vectors of results in bounds.
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
