// SPDX-License-Identifier: Apache-2.0
// Sums become outputs in float32 on cores with the DSP instructions: real_s8.h of
// cortex_m.
#ifndef EMBER_KERNELS_CADENCE_REAL_DSP_H
#define EMBER_KERNELS_CADENCE_REAL_DSP_H

#include "kernels/cortex_m/products_dsp.h"

static inline __attribute__((always_inline)) void
ember_real_store_dsp(const ember_scales_s8_t *scales, const int32_t *sums,
                     int32_t count, int8_t *y) {
    const float scale = scales->scale, inverse = scales->inverse;
    const int32_t zero_point = scales->zero_point;
    const int8_t *end = y + count;

    for (; end - y >= 2; y += 2) {
        const int32_t a = *sums++, b = *sums++;
        y[0] = ember_real_s8(a, scale, inverse, zero_point);
        y[1] = ember_real_s8(b, scale, inverse, zero_point);
    }
    if (y != end) {
        *y = ember_real_s8(*sums, scale, inverse, zero_point);
    }
}

#endif // EMBER_KERNELS_CADENCE_REAL_DSP_H
