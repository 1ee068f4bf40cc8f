// SPDX-License-Identifier: Apache-2.0
// One row, with scales per block of weights.
#include "groups.h"

// The sum of a block: int32, sixteen times itself, then without the zero point.
static inline svfloat32_t add_one(svfloat32_t sum, svint32_t own, svint32_t word,
                                  int32_t zero) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svint32_t weights = svasr_n_s32_x(all, svlsl_n_s32_x(all, word, 16), 16);
    const svint32_t exact = svasr_n_s32_x(all, own, 4);
    const svint32_t part = svmls_n_s32_x(all, exact, weights, zero);
    return svmla_f32_x(all, sum, svcvt_f32_s32_x(all, part), sme_group_scale(word));
}

void xnn_sme_groups_one(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves(
    "za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const svint32_t none = svdup_s32(0);
    const int32_t zero = gemm->rows[0].zero;
    const uint8_t *w = gemm->w;
    ember_xnn_sme_t part = *gemm;
    part.kind = XNN_SME_QD8_S4;
    part.k = gemm->block;
    for (uint32_t j = 0; j < gemm->n; j += most) {
        const uint32_t columns = gemm->n - j < most ? gemm->n - j : most;
        svfloat32_t s0 = svdup_f32(0.0f);
        svfloat32_t s1 = s0;
        for (uint32_t k = 0; k < gemm->k; k += gemm->block) {
            part.a = (const int8_t *)gemm->a + k;
            const svint32x2_t own =
                xnn_sme_dot_block(&part, w, columns, svcreate2_s32(none, none));
            w += (size_t)gemm->block / 2 * columns;
            const svint32x2_t words =
                sme_ints((const int32_t *)(const void *)w, columns);
            w += 4 * (size_t)columns;
            s0 = add_one(s0, svget2_s32(own, 0), svget2_s32(words, 0), zero);
            s1 = add_one(s1, svget2_s32(own, 1), svget2_s32(words, 1), zero);
        }
        w += 4 * (size_t)columns * xnn_sme_group_extra(gemm->k, gemm->block);
        sme_group_put(gemm, j, 0, svcreate2_f32(s0, s1), sme_bias(gemm, j, columns),
                      columns, true);
    }
}
