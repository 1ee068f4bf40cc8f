// SPDX-License-Identifier: Apache-2.0
// The exact sum of products of int16 by the DSP extension, two at a time.
#ifndef EMBER_KERNELS_ENGINE_DSP_DOT_S16_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_DOT_S16_DSP_H

#include <arm_acle.h>
#include <stdint.h>
#include <string.h>

static inline int16x2_t ember_dot_s16_pair(const int16_t *at) {
    int16x2_t both;
    memcpy(&both, at, sizeof(both));
    return both;
}

static inline int64_t ember_dot_s16_dsp(const int16_t *a, const int16_t *b,
                                        uint32_t count) {
    const int16_t *end = b + (count & ~7u);
    int64_t sum = 0;
    for (; b != end; a += 8, b += 8) {
        sum = __smlald(ember_dot_s16_pair(a), ember_dot_s16_pair(b), sum);
        sum = __smlald(ember_dot_s16_pair(a + 2), ember_dot_s16_pair(b + 2), sum);
        sum = __smlald(ember_dot_s16_pair(a + 4), ember_dot_s16_pair(b + 4), sum);
        sum = __smlald(ember_dot_s16_pair(a + 6), ember_dot_s16_pair(b + 6), sum);
    }
    for (uint32_t k = 0; k < count % 8; k++) {
        sum += (int32_t)a[k] * b[k];
    }
    return sum;
}

#endif // EMBER_KERNELS_ENGINE_DSP_DOT_S16_DSP_H
