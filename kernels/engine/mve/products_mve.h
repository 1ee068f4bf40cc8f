// SPDX-License-Identifier: Apache-2.0
// Products of int8 rows with Helium, and the scaling of their sums. Offsets of the
// inputs are not added to elements; instead, times the sum of the weights, to the bias.
#ifndef EMBER_KERNELS_ENGINE_MVE_PRODUCTS_MVE_H
#define EMBER_KERNELS_ENGINE_MVE_PRODUCTS_MVE_H

#include <arm_mve.h>

#include "kernels/engine/int8/conv_s8.h"

#define INLINE static inline __attribute__((always_inline))

enum { EMBER_LANES_S8 = 16, EMBER_LANES_S16 = 8, EMBER_LANES_S32 = 4 };

// Shifts that ember_scaled_mve() supports.
enum { EMBER_SHIFT_MIN_MVE = -31, EMBER_SHIFT_MAX_MVE = 0 };

// Whether no shift is 0, and outputs have no limits but int8's.
static inline bool ember_is_plain_mve(const ember_conv_s8_t *conv) {
    return conv->scales.limits.low == INT8_MIN &&
           conv->scales.limits.high == INT8_MAX && conv->rows >= EMBER_ROWS_SHIFT;
}

// Scales four sums; every shift is in the range above. Negative products that will be
// shifted are reduced by one: ties are rounded away from zero.
INLINE int32x4_t ember_scaled_mve(int32x4_t sums, int32x4_t multipliers,
                                  int32x4_t shifts) {
    const int32x4_t high = vqrdmulhq_s32(sums, multipliers);
    const int32x4_t signs = vandq_s32(high, shifts);
    return vrshlq_s32(vqdmlahq_n_s32(high, signs, 1), shifts);
}

// The same if no shift is 0.
INLINE int32x4_t ember_shifted_mve(int32x4_t sums, int32x4_t multipliers,
                                   int32x4_t shifts) {
    const int32x4_t high = vqrdmulhq_s32(sums, multipliers);
    return vrshlq_s32(vqdmlahq_n_s32(high, high, 1), shifts);
}

// Adds the output's zero point to four scaled sums and limits them.
INLINE int32x4_t ember_limited_mve(int32x4_t scaled, int32_t zero_point, int32x4_t low,
                                   int32x4_t high) {
    const int32x4_t moved = vaddq_n_s32(scaled, zero_point);
    return vminq_s32(vmaxq_s32(moved, low), high);
}

// Adds the output's zero point to eight sums, each scaled by a negative shift, and
// stores them, limited to int8: those at even positions, then those at odd ones.
INLINE void ember_store_eight_mve(int8_t *y, int32x4_t even, int32x4_t odd,
                                  int32_t zero_point) {
    const int16x8_t half = vqmovnbq_s32(vreinterpretq_s16_s32(even), even);
    const int16x8_t all = vqmovntq_s32(half, odd);
    const int16x8_t moved = vqaddq_n_s16(all, (int16_t)zero_point);
    const int8x16_t bytes = vqmovnbq_s16(vreinterpretq_s8_s16(moved), moved);
    vstrbq_s16(y, vreinterpretq_s16_s8(bytes));
}

INLINE void ember_copy_mve(int8_t *to, const int8_t *from, int32_t count) {
    for (; count > 0; count -= EMBER_LANES_S8) {
        const mve_pred16_t lanes = vctp8q((uint32_t)count);
        vstrbq_p_s8(to, vldrbq_z_s8(from, lanes), lanes);
        to += EMBER_LANES_S8;
        from += EMBER_LANES_S8;
    }
}

INLINE void ember_fill_mve(int8_t *to, int8_t value, int32_t count) {
    const int8x16_t values = vdupq_n_s8(value);
    for (; count > 0; count -= EMBER_LANES_S8) {
        vstrbq_p_s8(to, values, vctp8q((uint32_t)count));
        to += EMBER_LANES_S8;
    }
}

// sums[f] = bias[f] + offset * (w[f, 0] + .. + w[f, inner - 1])
INLINE void ember_sums_mve(int32_t *sums, const int32_t *bias, const int8_t *w,
                           int32_t filters, int32_t inner, int32_t offset) {
    for (int32_t f = 0; f < filters; f++) {
        const int8_t *at = w;
        int32_t sum = 0;
        for (int32_t k = inner; k > 0; k -= EMBER_LANES_S8) {
            const mve_pred16_t lanes = vctp8q((uint32_t)k);
            sum = vaddvaq_p_s8(sum, vldrbq_z_s8(at, lanes), lanes);
            at += EMBER_LANES_S8;
        }
        const uint32_t first = bias == NULL ? 0 : (uint32_t)bias[f];
        sums[f] = (int32_t)(first + (uint32_t)sum * (uint32_t)offset);
        w += inner;
    }
}

// sum += a . b
INLINE int32_t ember_dot_mve(int32_t sum, const int8_t *a, const int8_t *b,
                             int32_t inner) {
    for (int32_t k = inner; k > 0; k -= EMBER_LANES_S8) {
        const mve_pred16_t lanes = vctp8q((uint32_t)k);
        sum = vmladavaq_p_s8(sum, vldrbq_z_s8(a, lanes), vldrbq_z_s8(b, lanes), lanes);
        a += EMBER_LANES_S8;
        b += EMBER_LANES_S8;
    }
    return sum;
}

#endif // EMBER_KERNELS_ENGINE_MVE_PRODUCTS_MVE_H
