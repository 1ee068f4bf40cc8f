// SPDX-License-Identifier: Apache-2.0
// Products of int8 rows with the DSP instructions, and the scaling of their sums. Four
// elements of an input are two words of int16, the even ones and the odd ones, each
// with its offset added.
#ifndef EMBER_KERNELS_ENGINE_DSP_PRODUCTS_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_PRODUCTS_DSP_H

#include <arm_dsp.h>
#include <string.h>

#include "kernels/engine/int8/conv_s8.h"

#define INLINE static inline __attribute__((always_inline))
// Compiled for size: everything except inner loops; and for speed, whatever calls it.
#define SMALL __attribute__((cold))
#define FAST  static __attribute__((hot, noinline))

// Shifts that ember_scaled_dsp() supports, the smallest sum that it does not, and the
// smallest normalised multiplier.
enum {
    EMBER_SHIFT_MIN_DSP = -31,
    EMBER_SHIFT_MAX_DSP = -1,
    EMBER_SHIFT_POWER_DSP = -3, // the largest with ember_power_dsp()
    EMBER_SUM_DSP = 1 << 30,
    EMBER_NORMAL_DSP = 1 << 30
};

// Four elements, at any address.
INLINE uint32_t ember_word_dsp(const int8_t *at) {
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

// The first `count` elements of four; 0 for the others.
INLINE uint32_t ember_part_dsp(const int8_t *at, int32_t count) {
    uint32_t word = 0;
    while (count-- > 0) {
        word = word << 8 | (uint8_t)at[count];
    }
    return word;
}

// The same number in both halves of a word.
INLINE uint32_t ember_both_dsp(int32_t x) {
    return (uint16_t)x | (uint32_t)x << 16;
}

// How the sums of one filter become outputs.
typedef struct ember_scale_dsp {
    int32_t multiplier;
    int32_t shift; // to the right, except for the last bit
    int32_t bias;  // of twice the output: the rounding, and the zero point
} ember_scale_dsp_t;

INLINE ember_scale_dsp_t ember_scale_dsp(int32_t multiplier, int32_t shift,
                                         int32_t zero_point) {
    return (ember_scale_dsp_t){multiplier, -1 - shift, 2 * zero_point + 1};
}

// The output, within int8, from half of `twice`. The sum of both roundings is that of
// requantize.h: down and up by a half, but away from zero if the first result is
// negative.
INLINE int32_t ember_scaled_half_dsp(int32_t twice, ember_scale_dsp_t by) {
    const int32_t high = ember_smmulr(twice, by.multiplier);
    return ember_ssat8_half(((high + (high >> 31)) >> by.shift) + by.bias);
}

INLINE int32_t ember_scaled_dsp(int32_t sum, ember_scale_dsp_t by) {
    return ember_scaled_half_dsp((int32_t)((uint32_t)sum << 1), by);
}

// The row of a filter with which ember_tiles_dsp() computes the same; with a multiplier
// of 0, any sum is 0 after the shift.
INLINE ember_filter_dsp_t ember_filter_dsp(int32_t bias, int32_t multiplier,
                                           int32_t shift) {
    const int32_t twice = (int32_t)((uint32_t)multiplier << 1);
    return (ember_filter_dsp_t){bias, twice, multiplier == 0 ? 31 : -1 - shift};
}

// 2^32 shifted by the shift of ember_filter_dsp(), which a product with it does; 0
// where that is less than two.
INLINE int32_t ember_power_dsp(ember_filter_dsp_t by) {
    return by.shift < 2 ? 0 : (int32_t)(1u << (32 - by.shift));
}

// Whether `count` > 0 filters have such a power.
static inline bool ember_powers_fit_dsp(const int32_t *shifts, int32_t count) {
    int32_t most = *shifts;

    while (--count > 0) {
        const int32_t shift = *++shifts;
        most = shift > most ? shift : most;
    }
    return most <= EMBER_SHIFT_POWER_DSP;
}

// Whether sums of `inner` products and a bias are small enough, as far as the biases
// can be read.
static inline bool ember_sums_fit_dsp(const int32_t *bias, int32_t filters,
                                      int64_t inner) {
    const int64_t room = EMBER_SUM_DSP - 1 - inner * 32768;
    const uint32_t most = (uint32_t)room; // room is below 2^30

    if (room < 0) {
        return false;
    }
    for (int32_t left = bias != NULL ? filters : 0; left > 0; left--) {
        if ((uint32_t)*bias++ + most > 2 * most) { // modulo 2^32 on either side
            return false;
        }
    }
    return true;
}

// The same, and that ember_filter_dsp() supports the scales.
static inline bool ember_scales_fit_dsp(const ember_conv_s8_t *conv, int64_t inner) {
    return conv->rows == EMBER_ROWS_REAL ||
           (conv->rows == EMBER_ROWS_NORMAL &&
            ember_sums_fit_dsp(conv->scales.bias, conv->filters, inner));
}

#endif // EMBER_KERNELS_ENGINE_DSP_PRODUCTS_DSP_H
