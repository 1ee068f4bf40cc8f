// SPDX-License-Identifier: Apache-2.0
// Products with scales per block of weights: what groups*.c share.
#ifndef EMBER_XNNPACK_SME_GROUPS_H
#define EMBER_XNNPACK_SME_GROUPS_H

#include "dot.h"

// A product while it runs. Columns are scaled by a power of two each, so that weights
// times their scales are float16. Zero points count from -128 on.
typedef struct groups {
    const ember_xnn_sme_t *gemm;
    float *sums;         // (most, most) of a block
    uint8_t *w;          // a block of columns as float16
    uint8_t *a;          // all rows, packed
    float *zeros;        // (m,) zero points
    float *norms;        // (blocks of rows, parts + 1): the largest of rows, see below
    const uint8_t *from; // the block of columns, packed
    const float *extra;  // what is behind its blocks of weights, see gemm.h
    uint32_t most;       // rows and columns of a block
    uint32_t part;       // of k, that has a norm
    uint32_t parts;
    uint32_t rows; // of this block
    uint32_t columns;
    uint32_t row;
    uint32_t column;
} groups_t;

// Rows without zero points as float16; their norms in each part of k, and behind those
// of a block of rows its largest zero point.
void xnn_sme_groups_rows(const groups_t *groups) __arm_streaming __arm_inout("za");

// Weights of the block of columns times their scales as float16.
void xnn_sme_groups_columns(const groups_t *groups) __arm_streaming __arm_preserves(
    "za");

// Tiles 0 to 3 become the sums of a block, divided by `back`. No: they are not.
bool xnn_sme_groups_add(const groups_t *groups) __arm_streaming __arm_inout("za");

// The parts from `part` on, at least up to which nothing is rounded when the magnitudes
// of sums are no more than `bound`. Zero points are taken `times` times.
uint32_t xnn_sme_groups_end(const groups_t *groups, uint32_t part, svfloat32x2_t bound,
                            float times) __arm_streaming __arm_preserves("za");

// Adds the products of k from `k` to `end` to the tiles.
void xnn_sme_groups_multiply(const groups_t *groups, uint32_t k,
                             uint32_t end) __arm_streaming __arm_inout("za");

// Adds parts block by block until nothing is rounded again; up to which part, or 0:
// sums of a block are not exact. Tiles are sums without what zero points add.
uint32_t xnn_sme_groups_blocks(const groups_t *groups,
                               uint32_t part) __arm_streaming __arm_inout("za");

// Numbers of one row and a block of columns, which begins at `w`.
void xnn_sme_groups_row(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t column,
                        const uint8_t *w) __arm_streaming __arm_preserves("za");

// Adds the products of a row, which begins at `a`, with a block of columns to four sums
// each; the first begins with `starts`. Those are added, too. In 1/16 of their scales.
svfloat32x2_t
xnn_sme_groups_half(const ember_xnn_sme_t *gemm, const int8_t *a, const uint8_t *w,
                    uint32_t columns,
                    svfloat32x2_t starts) __arm_streaming __arm_preserves("za");

// Where a part of k begins.
static inline uint32_t
sme_group_k(const groups_t *groups,
            uint32_t part) __arm_streaming __arm_preserves("za") {
    const uint32_t k = groups->part * part;
    return k < groups->gemm->k ? k : groups->gemm->k;
}

static inline svfloat32x2_t sme_group_none(void) __arm_streaming __arm_preserves("za") {
    return svcreate2_f32(svdup_f32(0.0f), svdup_f32(0.0f));
}

// A number of the columns: one of XNN_SME_GROUP_*.
static inline svfloat32x2_t
sme_group_extra(const groups_t *groups,
                uint32_t number) __arm_streaming __arm_preserves("za") {
    return sme_floats(groups->extra + (size_t)number * groups->columns,
                      groups->columns);
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
    const svfloat32_t y0 = svmax_n_f32_x(all, svget2_f32(numbers, 0), gemm->low);
    const svfloat32_t y1 = svmax_n_f32_x(all, svget2_f32(numbers, 1), gemm->low);
    sme_put(gemm, at, svmin_n_f32_x(all, y0, gemm->high),
            svmin_n_f32_x(all, y1, gemm->high), c0, c1);
}

#endif // EMBER_XNNPACK_SME_GROUPS_H
