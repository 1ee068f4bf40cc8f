// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_columns.h in C.
#ifndef EMBER_MODELS_ARM_DSP_COLUMNS_H
#define EMBER_MODELS_ARM_DSP_COLUMNS_H

#include <arm_dsp.h>

static inline uint32_t *ember_widen_three(uint32_t *to, const int8_t *a,
                                          const int8_t *b, const int8_t *c,
                                          int32_t fours, uint32_t offset) {
    for (; fours > 0; fours--) {
        const uint32_t words[3] = {ember_ldr_next(&a), ember_ldr_next(&b),
                                   ember_ldr_next(&c)};
        for (int32_t n = 0; n < 3; n++) {
            to[n] = ember_sxtab16(offset, words[n]);
            to[n + 3] = ember_sxtab16_odd(offset, words[n]);
        }
        to += 6;
    }
    return to;
}

static inline void ember_copy_runs_dsp(int8_t *to, const int8_t *from, int32_t length,
                                       int32_t pitch, int32_t rows) {
    for (; rows > 0; rows--) {
        memcpy(to, from, (size_t)length);
        from += pitch;
        to += length;
    }
}

static inline void ember_turn_fours_dsp(int8_t *to, const int8_t *from, int32_t rows,
                                        int32_t columns, int32_t count) {
    for (int32_t i = 0; i < 4 * count; i++) {
        for (int32_t row = 0; row < 4; row++) {
            to[i * rows + row] = from[row * columns + i];
        }
    }
}

#endif // EMBER_MODELS_ARM_DSP_COLUMNS_H
