// SPDX-License-Identifier: Apache-2.0
// What gemm_f32_sme.c computes, without its instructions.
#include "sme.h"

#include <math.h>

uint32_t ember_xnn_sme_columns_f32(void) {
    return 2 * ember_xnn_sme_vector() / (uint32_t)sizeof(float);
}

static float sum_of(const ember_xnn_sme_f32_t *gemm, uint32_t row, uint32_t column) {
    const uint32_t most = ember_xnn_sme_columns_f32();
    const uint32_t first = column / most * most;
    const uint32_t left = gemm->n - first;
    const uint32_t width = left < most ? left : most;
    const float *w = gemm->w + (size_t)first * gemm->k + (column - first);
    const float *a = gemm->a + (size_t)row * gemm->k;
    float sum = gemm->bias != NULL ? gemm->bias[column] : 0.0f;
    for (uint32_t i = 0; i < gemm->k; i++) {
        sum = fmaf(a[i], w[(size_t)i * width], sum);
    }
    return sum;
}

void ember_xnn_gemm_f32_sme(const ember_xnn_sme_f32_t *gemm) {
    for (uint32_t i = 0; i < gemm->m; i++) {
        for (uint32_t j = 0; j < gemm->n; j++) {
            float sum = sum_of(gemm, i, j);
            sum = sum < gemm->low ? gemm->low : sum;
            sum = sum > gemm->high ? gemm->high : sum;
            gemm->y[(size_t)i * gemm->n + j] = sum;
        }
    }
}
