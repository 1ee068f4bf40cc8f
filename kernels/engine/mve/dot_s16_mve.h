// SPDX-License-Identifier: Apache-2.0
// The exact sum of products of int16 with Helium, eight at a time.
#ifndef EMBER_KERNELS_ENGINE_MVE_DOT_S16_MVE_H
#define EMBER_KERNELS_ENGINE_MVE_DOT_S16_MVE_H

#include <arm_mve.h>
#include <stdint.h>

static inline int64_t ember_dot_s16_mve(const int16_t *a, const int16_t *b,
                                        uint32_t count) {
    int64_t sum = 0;
    for (int32_t left = (int32_t)count; left > 0; left -= 8, a += 8, b += 8) {
        const mve_pred16_t lanes = vctp16q((uint32_t)left);
        sum = vmlaldavaq_s16(sum, vldrhq_z_s16(a, lanes), vldrhq_z_s16(b, lanes));
    }
    return sum;
}

#endif // EMBER_KERNELS_ENGINE_MVE_DOT_S16_MVE_H
