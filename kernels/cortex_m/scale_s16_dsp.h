// SPDX-License-Identifier: Apache-2.0
// Scaling of sums to int16 with the DSP instructions: the results of requantize.h for
// multipliers of 2^30 and more, or 0, and shifts from -31 to -1.
#ifndef EMBER_KERNELS_CORTEX_M_SCALE_S16_DSP_H
#define EMBER_KERNELS_CORTEX_M_SCALE_S16_DSP_H

#include <arm_dsp_s16.h>

#include "kernels/cortex_m/conv_s16.h"
#include "kernels/engine/dsp/products_dsp.h"

// One output, within int16. The sum of both roundings is that of requantize.h: down and
// up by a half, but away from zero if the first result is negative.
INLINE int32_t ember_scaled_s16_dsp(int32_t sum, ember_filter_dsp_t by) {
    const int32_t high = ember_smmlar(sum, by.multiplier, sum);
    const int32_t less = (int32_t)((uint32_t)high + (uint32_t)(high >> 31));
    return ember_ssat16_half((less >> by.shift) + 1);
}

INLINE bool ember_is_limited_s16(ember_limits_s16_t limits) {
    return limits.low > INT16_MIN || limits.high < INT16_MAX;
}

#endif // EMBER_KERNELS_CORTEX_M_SCALE_S16_DSP_H
