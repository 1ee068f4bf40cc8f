// SPDX-License-Identifier: Apache-2.0
// Static int8: the initial sums, and how sums become elements of the output.
#ifndef EMBER_XNNPACK_SME_STATIC_H
#define EMBER_XNNPACK_SME_STATIC_H

#include "block.h"

enum { SME_HALF = 0x4b400000 }; // bits of 1.5 * 2^23, whose last bit has the value 1

// bias - zero * sum of the column; the sums are in `sums`.
static inline svint32x2_t
sme_first_sums(const ember_xnn_sme_static_t *fixed, const uint8_t *sums,
               uint32_t column,
               uint32_t columns) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svint32x2_t own = sme_ints((const int32_t *)(const void *)sums, columns);
    svint32x2_t bias = svcreate2_s32(svdup_s32(0), svdup_s32(0));
    if (fixed->bias != NULL) {
        bias = sme_ints(fixed->bias + column, columns);
    }
    const int32_t zero = fixed->in_zero;
    return svcreate2_s32(
        svmls_n_s32_x(all, svget2_s32(bias, 0), svget2_s32(own, 0), zero),
        svmls_n_s32_x(all, svget2_s32(bias, 1), svget2_s32(own, 1), zero));
}

// Scales of columns: in * weights / out, in this order.
static inline svfloat32x2_t
sme_factors(const ember_xnn_sme_static_t *fixed, uint32_t column,
            uint32_t columns) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t one = svdup_f32(fixed->scale);
    svfloat32x2_t own = svcreate2_f32(one, one);
    if (fixed->scales != NULL) {
        own = sme_floats(fixed->scales + column, columns);
    }
    const svfloat32_t s0 = svmul_n_f32_x(all, svget2_f32(own, 0), fixed->in_scale);
    const svfloat32_t s1 = svmul_n_f32_x(all, svget2_f32(own, 1), fixed->in_scale);
    return svcreate2_f32(svdiv_n_f32_x(all, s0, fixed->out_scale),
                         svdiv_n_f32_x(all, s1, fixed->out_scale));
}

// Both of these for two vectors of columns at index `column` of lists.
static inline void
sme_store_columns(const ember_xnn_sme_static_t *fixed, const uint8_t *sums,
                  uint32_t column, uint32_t columns, int32_t *start,
                  float *factors) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svint32x2_t first = sme_first_sums(fixed, sums, column, columns);
    const svfloat32x2_t own = sme_factors(fixed, column, columns);
    svst1_s32(all, start + column, svget2_s32(first, 0));
    svst1_vnum_s32(all, start + column, 1, svget2_s32(first, 1));
    svst1_f32(all, factors + column, svget2_f32(own, 0));
    svst1_vnum_f32(all, factors + column, 1, svget2_f32(own, 1));
}

// Sums as int8 in the low halves of bits of floats: rounded, then bounded as integers,
// which have the same order as floats.
static inline svint16_t sme_bits(svint32_t sums, svfloat32_t factors, svint32_t low,
                                 svint32_t high) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t half = svreinterpret_f32_s32(svdup_s32(SME_HALF));
    // Merging avoids a second register.
    const svfloat32_t real = svcvt_f32_s32_m(svreinterpret_f32_s32(sums), all, sums);
    const svfloat32_t x = svmul_f32_x(all, real, factors);
    const svint32_t bits = svreinterpret_s32_f32(svadd_f32_x(all, x, half));
    return svreinterpret_s16_s32(svclamp_s32(bits, low, high));
}

#endif // EMBER_XNNPACK_SME_STATIC_H
