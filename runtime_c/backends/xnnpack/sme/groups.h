// SPDX-License-Identifier: Apache-2.0
// Products with scales per block of weights: what groups*.c share.
#ifndef EMBER_XNNPACK_SME_GROUPS_H
#define EMBER_XNNPACK_SME_GROUPS_H

#include "dot.h"

// A product while it runs. Columns are scaled by a power of two each, so that weights
// times their scales are float16.
typedef struct groups {
    const ember_xnn_sme_t *gemm;
    float *sums;         // (most, most) of a block
    float *norms;        // (blocks of rows, parts of k): the largest norm of a row
    uint8_t *w;          // a block of columns as float16
    uint8_t *a;          // all rows, packed
    const uint8_t *from; // the block of columns, packed
    const float *scaled; // what is behind its blocks of weights, see gemm.h
    uint32_t most;       // rows and columns of a block
    uint32_t part;       // of k, that has a norm
    uint32_t parts;
    uint32_t rows; // of this block
    uint32_t columns;
    uint32_t row;
    uint32_t column;
} groups_t;

// Rows without zero points as float16; and their norms.
void xnn_sme_groups_rows(const groups_t *groups) __arm_streaming __arm_inout("za");

// Weights of the block of columns times their scales as float16.
void xnn_sme_groups_columns(const groups_t *groups) __arm_streaming __arm_preserves(
    "za");

// The scale of a block's column.
static inline svfloat32_t
sme_group_scale(svint32_t word) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    return svreinterpret_f32_s32(svand_n_s32_x(all, word, (int32_t)0xffff0000));
}

// Sums of a row without its scale become numbers.
static inline void sme_group_put(const ember_xnn_sme_t *gemm, size_t at, uint32_t row,
                                 svfloat32x2_t sums, svfloat32x2_t bias,
                                 uint32_t columns,
                                 bool bounded) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)svcntw(), columns);
    const float scale = gemm->rows[row].scale;
    const svfloat32_t x0 = svmul_n_f32_x(all, svget2_f32(sums, 0), scale);
    const svfloat32_t x1 = svmul_n_f32_x(all, svget2_f32(sums, 1), scale);
    svfloat32_t y0 = svadd_f32_x(all, x0, svget2_f32(bias, 0));
    svfloat32_t y1 = svadd_f32_x(all, x1, svget2_f32(bias, 1));
    if (bounded) {
        y0 = svmin_n_f32_x(all, svmax_n_f32_x(all, y0, gemm->low), gemm->high);
        y1 = svmin_n_f32_x(all, svmax_n_f32_x(all, y1, gemm->low), gemm->high);
    }
    sme_put(gemm, at, y0, y1, c0, c1);
}

#endif // EMBER_XNNPACK_SME_GROUPS_H
