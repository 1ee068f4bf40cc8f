// SPDX-License-Identifier: Apache-2.0
// Scaling of sums to int16 with Helium, as requantize.h has it.
#ifndef EMBER_KERNELS_CORTEX_M_SCALE_S16_MVE_H
#define EMBER_KERNELS_CORTEX_M_SCALE_S16_MVE_H

#include "kernels/cortex_m/conv_s16.h"
#include "kernels/engine/mve/products_mve.h"

// Eight numbers within int16, from those at even positions and those at odd ones.
INLINE int16x8_t ember_narrowed_mve(int32x4_t even, int32x4_t odd) {
    const int16x8_t half = vqmovnbq_s32(vreinterpretq_s16_s32(even), even);
    return vqmovntq_s32(half, odd);
}

#endif // EMBER_KERNELS_CORTEX_M_SCALE_S16_MVE_H
