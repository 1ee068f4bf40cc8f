// SPDX-License-Identifier: Apache-2.0
// Stores the nearest int8 of int32, with Helium.
#ifndef EMBER_KERNELS_ENGINE_MVE_LIMITED_MVE_H
#define EMBER_KERNELS_ENGINE_MVE_LIMITED_MVE_H

#include <arm_mve.h>

static inline __attribute__((always_inline)) void
ember_store_limited_mve(int8_t *y, int32x4_t x, mve_pred16_t lanes) {
    const int16x8_t half = vqmovnbq_s32(vreinterpretq_s16_s32(x), x);
    const int8x16_t whole = vqmovnbq_s16(vreinterpretq_s8_s16(half), half);
    vstrbq_p_s32(y, vreinterpretq_s32_s8(whole), lanes);
}

#endif // EMBER_KERNELS_ENGINE_MVE_LIMITED_MVE_H
