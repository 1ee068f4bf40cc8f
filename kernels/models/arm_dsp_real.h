// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_real.h in C.
#ifndef EMBER_MODELS_ARM_DSP_REAL_H
#define EMBER_MODELS_ARM_DSP_REAL_H

#include <arm_dsp.h>
#include <math.h>

typedef struct ember_real_dsp {
    float scale;
    float inverse;
    int32_t zero_point;
} ember_real_dsp_t;

static inline int8_t ember_real_one_dsp(int32_t sum, const ember_real_dsp_t *by) {
    const float real = rintf(by->scale * (float)sum * by->inverse);
    const int64_t whole = real < -0x1p31f   ? INT32_MIN
                          : real >= 0x1p31f ? INT32_MAX
                                            : (int64_t)real;
    const int64_t q = whole + by->zero_point;
    return (int8_t)(q < INT8_MIN ? INT8_MIN : q > INT8_MAX ? INT8_MAX : q);
}

static inline void ember_real_pair_dsp(int32_t *a, int32_t *b,
                                       const ember_real_dsp_t *by) {
    *a = ember_real_one_dsp(*a, by);
    *b = ember_real_one_dsp(*b, by);
}

#endif // EMBER_MODELS_ARM_DSP_REAL_H
