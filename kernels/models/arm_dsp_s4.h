// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_s4.h in C.
#ifndef EMBER_MODELS_ARM_DSP_S4_H
#define EMBER_MODELS_ARM_DSP_S4_H

#include <arm_dsp.h>
#include <string.h>

typedef struct ember_pairs_s4 {
    int32_t *sums;
    const int8_t *row;
    int32_t pitch;
    const uint32_t *x;
    int32_t pairs;
} ember_pairs_s4_t;

static inline void ember_pairs_s4(ember_pairs_s4_t *pairs) {
    for (int32_t f = 0; f < 2 * pairs->pairs; f++) {
        const int8_t *row = pairs->row + f * pairs->pitch;
        const uint32_t *x = pairs->x;
        int32_t sum = 0;
        for (int32_t i = 0; i < pairs->pitch; i += 4) {
            uint32_t word;
            memcpy(&word, row + i, sizeof(word));
            sum = ember_add_four(sum, word << 4 & 0xF0F0F0F0u, x[i], x[i + 1]);
            sum = ember_add_four(sum, word, x[i + 2], x[i + 3]);
        }
        pairs->sums[f] = sum;
    }
}

#endif // EMBER_MODELS_ARM_DSP_S4_H
