// SPDX-License-Identifier: Apache-2.0
// Sums become outputs in float32 on cores with the DSP instructions: real_s8.h of
// cortex_m.
#ifndef EMBER_KERNELS_CADENCE_REAL_DSP_H
#define EMBER_KERNELS_CADENCE_REAL_DSP_H

#include <arm_dsp_real.h>

#include "kernels/engine/dsp/products_dsp.h"

// What all sums begin with.
typedef struct ember_real_start_dsp {
    const int32_t *bias; // (count,); or one number, when `step` is 0
    int32_t step;        // 1 or 0
    int32_t base;        // wraps around with the others
} ember_real_start_dsp_t;

INLINE int32_t ember_real_sum_dsp(int32_t sum, int32_t bias, int32_t base) {
    return (int32_t)((uint32_t)sum + (uint32_t)bias + (uint32_t)base);
}

// `count` sums become outputs.
INLINE void ember_real_store_dsp(const ember_real_dsp_t *by, const int32_t *sums,
                                 int32_t count, ember_real_start_dsp_t start,
                                 int8_t *y) {
    const ember_real_dsp_t real = *by;
    const int32_t *bias = start.bias;

    for (; count > 0; count -= 2) {
        const bool two = count > 1;
        int32_t a = ember_real_sum_dsp(sums[0], bias[0], start.base), b = a;
        if (two) {
            bias += start.step;
            b = ember_real_sum_dsp(sums[1], bias[0], start.base);
            bias += start.step;
        }
        ember_real_pair_dsp(&a, &b, &real);
        y[0] = (int8_t)a;
        if (two) {
            y[1] = (int8_t)b;
        }
        sums += 2;
        y += 2;
    }
}

#endif // EMBER_KERNELS_CADENCE_REAL_DSP_H
