// SPDX-License-Identifier: Apache-2.0
// Two vectors of float32, of adjacent columns.
#ifndef EMBER_XNNPACK_SME_PAIRS_H
#define EMBER_XNNPACK_SME_PAIRS_H

#include <arm_sme.h>

static inline svfloat32x2_t
sme_pair_add(svfloat32x2_t a, svfloat32x2_t b) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    return svcreate2_f32(svadd_f32_x(all, svget2_f32(a, 0), svget2_f32(b, 0)),
                         svadd_f32_x(all, svget2_f32(a, 1), svget2_f32(b, 1)));
}

static inline svfloat32x2_t
sme_pair_times(svfloat32x2_t a, float factor) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    return svcreate2_f32(svmul_n_f32_x(all, svget2_f32(a, 0), factor),
                         svmul_n_f32_x(all, svget2_f32(a, 1), factor));
}

static inline svfloat32x2_t
sme_pair_load(const float *from) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    return svcreate2_f32(svld1_f32(all, from), svld1_vnum_f32(all, from, 1));
}

static inline void
sme_pair_store(float *to, svfloat32x2_t a) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    svst1_f32(all, to, svget2_f32(a, 0));
    svst1_vnum_f32(all, to, 1, svget2_f32(a, 1));
}

#endif // EMBER_XNNPACK_SME_PAIRS_H
