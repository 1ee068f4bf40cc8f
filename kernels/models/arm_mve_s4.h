// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_mve_s4.h in C.
#ifndef EMBER_MODELS_ARM_MVE_S4_H
#define EMBER_MODELS_ARM_MVE_S4_H

#include <arm_mve.h>

typedef struct ember_fours_s4 {
    int32_t *sums;
    const int32_t *first;
    const int8_t *row;
    const int8_t *x;
    int32_t pitch;
    int32_t blocks;
    int32_t fours;
} ember_fours_s4_t;

static inline void ember_fours_s4(const ember_fours_s4_t *fours) {
    for (int32_t f = 0; f < 4 * fours->fours; f++) {
        const int8_t *row = fours->row + f * fours->pitch, *x = fours->x;
        int32_t sum = fours->first[f];
        for (int32_t i = 0; i < fours->blocks; i++) {
            const int8x16_t both = vldrbq_s8(row);
            sum = vmladavaq_s8(sum, vshlq_n_s8(both, 4), vldrbq_s8(x));
            sum = vmladavaq_s8(sum, both, vldrbq_s8(x + 16));
            row += 16;
            x += 32;
        }
        fours->sums[f] = sum;
    }
}

#endif // EMBER_MODELS_ARM_MVE_S4_H
