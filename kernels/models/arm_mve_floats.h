// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_mve_floats.h in C.
#ifndef EMBER_MODELS_ARM_MVE_FLOATS_H
#define EMBER_MODELS_ARM_MVE_FLOATS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ember_mve_block {
    const float *a[3];
    const float *b;
    int32_t step;
    int32_t inner;
    float *sums;
} ember_mve_block_t;

static inline void ember_mve_multiply_block(const ember_mve_block_t *block) {
    const ptrdiff_t step = block->step / (ptrdiff_t)sizeof(float);

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 8; j++) {
            float sum = 0.0f;
            for (int32_t k = 0; k < block->inner; k++) {
                sum = fmaf(block->b[k * step + j], block->a[i][k], sum);
            }
            block->sums[8 * i + j] = sum;
        }
    }
}

#endif // EMBER_MODELS_ARM_MVE_FLOATS_H
