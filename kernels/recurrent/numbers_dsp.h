// SPDX-License-Identifier: Apache-2.0
// The numbers of recurrent layers with the DSP instructions. Contract: recurrent.h.
#ifndef EMBER_KERNELS_RECURRENT_NUMBERS_DSP_H
#define EMBER_KERNELS_RECURRENT_NUMBERS_DSP_H

#include <arm_dsp.h>
#include <string.h>

#include "kernels/recurrent/numbers.h"

#define INLINE static inline __attribute__((always_inline))
// Compiled for speed.
#define FAST __attribute__((hot))

// Both values of the table at once, and how near each is, in one sum.
INLINE int32_t ember_sigmoid_dsp(const int16_t *middle, int32_t x) {
    const uint32_t whole = 1 << EMBER_TABLE_PLACES_S16;
    const uint32_t share = (uint32_t)x & (whole - 1);
    const uint32_t shares = (share << 16) - share + whole; // share, whole - share
    uint32_t both;
    memcpy(&both, middle + (x >> EMBER_TABLE_PLACES_S16), sizeof(both));
    return ember_smlad(both, shares, (int32_t)(whole / 2)) >> EMBER_TABLE_PLACES_S16;
}

INLINE int32_t ember_tanh_dsp(const int16_t *middle, int32_t twice) {
    return 2 * ember_sigmoid_dsp(middle, twice) - (1 << EMBER_ONE_S16);
}

// round(a * tanh, 15), of tanh's sigmoid of twice the number.
INLINE int32_t ember_times_tanh_dsp(int32_t a, int32_t sigmoid) {
    const int32_t half = 1 << (EMBER_ONE_S16 - 1);
    return (a * (sigmoid - half) + half / 2) >> (EMBER_ONE_S16 - 1);
}

// Outputs, as loops keep it in registers.
typedef struct ember_result_dsp {
    int32_t multiplier;
    int32_t more; // half of the last place, and the zero point
    int32_t shift;
} ember_result_dsp_t;

INLINE ember_result_dsp_t ember_result_dsp(ember_result_s8_t by) {
    const int32_t zero_point = by.zero_point * (1 << by.shift);
    return (ember_result_dsp_t){by.multiplier, zero_point + ((1 << by.shift) >> 1),
                                by.shift};
}

INLINE int8_t ember_resulting_dsp(int32_t x, ember_result_dsp_t by) {
    const int32_t scaled = ember_product_s16(x, by.multiplier);
    return (int8_t)ember_ssat8((scaled + by.more) >> by.shift);
}

#endif // EMBER_KERNELS_RECURRENT_NUMBERS_DSP_H
