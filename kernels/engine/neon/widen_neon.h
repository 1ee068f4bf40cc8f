// SPDX-License-Identifier: Apache-2.0
// Lines of float32 or float16 to float32 and back, with NEON.
#ifndef EMBER_KERNELS_ENGINE_NEON_WIDEN_NEON_H
#define EMBER_KERNELS_ENGINE_NEON_WIDEN_NEON_H

#include <stddef.h>

#include "kernels/engine/half.h"
#include "kernels/engine/neon/fours_neon.h"

// Reads `count` numbers, `step` bytes apart.
static inline void ember_neon_widen(float *to, const char *from, int32_t step,
                                    int32_t count, bool half) {
    const int32_t size = half ? 2 : 4;

    if (step == size) {
        for (; count >= 4; count -= 4) {
            vst1q_f32(to, neon_load((const uint8_t *)from, half));
            to += 4;
            from += (ptrdiff_t)4 * size;
        }
    }
    for (; half && count >= 4; count -= 4) {
        uint16_t four[4];
        for (int i = 0; i < 4; i++) {
            four[i] = *(const uint16_t *)(const void *)from;
            from += step;
        }
        vst1q_f32(to, neon_load_f16(four));
        to += 4;
    }
    for (; count > 0; count--) {
        *to++ = half ? ember_half_widen(*(const uint16_t *)(const void *)from)
                     : *(const float *)(const void *)from;
        from += step;
    }
}

// Writes `count` numbers, `step` bytes apart.
static inline void ember_neon_narrow(char *to, int32_t step, const float *from,
                                     int32_t count, bool half) {
    const int32_t size = half ? 2 : 4;

    if (step == size) {
        for (; count >= 4; count -= 4) {
            neon_store((uint8_t *)to, vld1q_f32(from), half);
            from += 4;
            to += (ptrdiff_t)4 * size;
        }
    }
    for (; half && count >= 4; count -= 4) {
        uint16_t four[4];
        neon_store_f16(four, vld1q_f32(from));
        for (int i = 0; i < 4; i++) {
            *(uint16_t *)(void *)to = four[i];
            to += step;
        }
        from += 4;
    }
    for (; count > 0; count--) {
        if (half) {
            *(uint16_t *)(void *)to = ember_half_narrow(*from);
        } else {
            *(float *)(void *)to = *from;
        }
        from++;
        to += step;
    }
}

#endif // EMBER_KERNELS_ENGINE_NEON_WIDEN_NEON_H
