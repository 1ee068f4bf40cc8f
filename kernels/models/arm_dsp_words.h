// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_words.h in C.
#ifndef EMBER_MODELS_ARM_DSP_WORDS_H
#define EMBER_MODELS_ARM_DSP_WORDS_H

#include <stdint.h>

static inline void ember_dsp_copy_words(uint32_t *to, const uint32_t *from,
                                        uint32_t count) {
    for (uint32_t i = 0; i < 16 * count; i++) {
        to[i] = from[i];
    }
}

#endif // EMBER_MODELS_ARM_DSP_WORDS_H
