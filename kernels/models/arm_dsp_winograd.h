// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_winograd.h in C.
#ifndef EMBER_MODELS_ARM_DSP_WINOGRAD_H
#define EMBER_MODELS_ARM_DSP_WINOGRAD_H

#include <stdint.h>

typedef struct ember_winograd_dsp {
    const int16_t *w;
    const uint32_t *x;
    int32_t pairs;
    int32_t *sums;
} ember_winograd_dsp_t;

static inline void ember_winograd_dsp(const ember_winograd_dsp_t *tiles) {
    const int16_t *w = tiles->w;
    const uint32_t *x = tiles->x;
    uint32_t *sums = (uint32_t *)tiles->sums;

    for (int position = 0; position < 16; position++) {
        for (int i = 0; i < 8; i++) {
            sums[i] = 0;
        }
        for (int32_t pair = 0; pair < tiles->pairs; pair++) {
            for (int i = 0; i < 8; i++) {
                const int16_t *both = w + i / 4 * 2;
                const int32_t low = (int16_t)x[i % 4];
                const int32_t high = (int16_t)(x[i % 4] >> 16);
                sums[i] += (uint32_t)(both[0] * low) + (uint32_t)(both[1] * high);
            }
            w += 4;
            x += 4;
        }
        sums += 8;
    }
}

#endif // EMBER_MODELS_ARM_DSP_WINOGRAD_H
