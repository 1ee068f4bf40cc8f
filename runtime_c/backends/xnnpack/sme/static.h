// SPDX-License-Identifier: Apache-2.0
// Static int8: how sums begin, and how they become numbers of the output.
#ifndef EMBER_XNNPACK_SME_STATIC_H
#define EMBER_XNNPACK_SME_STATIC_H

#include "block.h"

enum { HALF = 0x4b400000 }; // bits of 1.5 * 2^23, whose last bit counts ones

// bias - zero * sum of the column, of those that lie in `sums`.
static inline svint32x2_t
first_sums(const ember_xnn_sme_t *gemm, const uint8_t *sums, uint32_t column,
           uint32_t columns) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svint32x2_t own = sme_ints((const int32_t *)(const void *)sums, columns);
    svint32x2_t bias = svcreate2_s32(svdup_s32(0), svdup_s32(0));
    if (gemm->bias != NULL) {
        bias = sme_ints((const int32_t *)gemm->bias + column, columns);
    }
    const int32_t zero = gemm->in_zero;
    return svcreate2_s32(
        svmls_n_s32_x(all, svget2_s32(bias, 0), svget2_s32(own, 0), zero),
        svmls_n_s32_x(all, svget2_s32(bias, 1), svget2_s32(own, 1), zero));
}

// Scales of columns: in * weights / out, in this order.
static inline svfloat32x2_t
factors_of(const ember_xnn_sme_t *gemm, uint32_t column,
           uint32_t columns) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t one = svdup_f32(gemm->scale);
    svfloat32x2_t own = svcreate2_f32(one, one);
    if (gemm->scales != NULL) {
        own = sme_floats(gemm->scales + column, columns);
    }
    const svfloat32_t s0 = svmul_n_f32_x(all, svget2_f32(own, 0), gemm->in_scale);
    const svfloat32_t s1 = svmul_n_f32_x(all, svget2_f32(own, 1), gemm->in_scale);
    return svcreate2_f32(svdiv_n_f32_x(all, s0, gemm->out_scale),
                         svdiv_n_f32_x(all, s1, gemm->out_scale));
}

// Sums as int8 in the low halves of bits of floats: rounded, then bounded as integers,
// which floats are ordered like.
static inline svint16_t bits_of(svint32_t sums, svfloat32_t factors, svint32_t low,
                                svint32_t high) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t half = svreinterpret_f32_s32(svdup_s32(HALF));
    // Merging keeps the register.
    const svfloat32_t real = svcvt_f32_s32_m(svreinterpret_f32_s32(sums), all, sums);
    const svfloat32_t x = svmul_f32_x(all, real, factors);
    const svint32_t bits = svreinterpret_s32_f32(svadd_f32_x(all, x, half));
    return svreinterpret_s16_s32(svclamp_s32(bits, low, high));
}

static inline void put(int8_t *y, svint32_t left, svint32_t right,
                       svfloat32x2_t factors, svint32_t low, svint32_t high,
                       svint16_t zero,
                       svbool_t columns) __arm_streaming __arm_preserves("za") {
    const svint16_t both =
        svuzp1_s16(bits_of(left, svget2_f32(factors, 0), low, high),
                   bits_of(right, svget2_f32(factors, 1), low, high));
    svst1b_s16(columns, y, svadd_s16_x(svptrue_b16(), both, zero));
}

// The same of no more than one vector of columns.
static inline void put_narrow(int8_t *y, svint32_t sums, svfloat32x2_t factors,
                              svint32_t low, svint32_t high, svint16_t zero,
                              svbool_t columns) __arm_streaming __arm_preserves("za") {
    const svint16_t bits = bits_of(sums, svget2_f32(factors, 0), low, high);
    const svint16_t number = svadd_s16_x(svptrue_b16(), bits, zero);
    svst1b_s32(columns, y, svreinterpret_s32_s16(number));
}

#endif // EMBER_XNNPACK_SME_STATIC_H
