// SPDX-License-Identifier: Apache-2.0
// The numbers of recurrent layers with Helium, eight at a time. Contract: recurrent.h.
#ifndef EMBER_KERNELS_RECURRENT_NUMBERS_MVE_H
#define EMBER_KERNELS_RECURRENT_NUMBERS_MVE_H

#include <arm_mve.h>

#include "kernels/recurrent/numbers.h"

#define INLINE static inline __attribute__((always_inline))

enum { EMBER_EIGHT = 8 };

INLINE int16x8_t ember_sigmoid_mve(int16x8_t x) {
    const int16x8_t at = vshrq_n_s16(x, EMBER_TABLE_PLACES_S16);
    const int16x8_t share =
        vandq_s16(x, vdupq_n_s16((1 << EMBER_TABLE_PLACES_S16) - 1));
    const uint16x8_t place =
        vreinterpretq_u16_s16(vaddq_n_s16(at, EMBER_TABLE_MIDDLE_S16));
    const int16x8_t low = vldrhq_gather_shifted_offset_s16(ember_sigmoid_table, place);
    const int16x8_t high =
        vldrhq_gather_shifted_offset_s16(ember_sigmoid_table + 1, place);
    const int16x8_t parts = vshlq_n_s16(share, EMBER_ONE_S16 - EMBER_TABLE_PLACES_S16);
    return vaddq_s16(low, vqrdmulhq_s16(vsubq_s16(high, low), parts));
}

INLINE int16x8_t ember_tanh_mve(int16x8_t twice) {
    const int16x8_t half = ember_sigmoid_mve(twice);
    return veorq_s16(vaddq_s16(half, half), vdupq_n_s16(INT16_MIN)); // minus 2^15
}

// The outputs of numbers with 15 fraction bits, stored to the lanes.
INLINE void ember_store_result_mve(int8_t *y, int16x8_t x, ember_result_s8_t by,
                                   mve_pred16_t lanes) {
    const int16x8_t scaled = vqrdmulhq_n_s16(x, by.multiplier);
    const int16x8_t shifted = vrshlq_s16(scaled, vdupq_n_s16((int16_t)-by.shift));
    const int16x8_t moved = vqaddq_n_s16(shifted, by.zero_point);
    const int8x16_t bytes = vqmovnbq_s16(vreinterpretq_s8_s16(moved), moved);
    vstrbq_p_s16(y, vreinterpretq_s16_s8(bytes), lanes);
}

#endif // EMBER_KERNELS_RECURRENT_NUMBERS_MVE_H
