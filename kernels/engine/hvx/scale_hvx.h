// SPDX-License-Identifier: Apache-2.0
// Scaling of 32-bit sums with HVX: the results of requantize.h for right shifts, 32
// sums at a time.
#ifndef EMBER_KERNELS_ENGINE_HVX_SCALE_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_SCALE_HVX_H

#include <hexagon_hvx.h>

#include "kernels/engine/int8/requantize.h"

#define INLINE static inline __attribute__((always_inline))

// Shifts that ember_scaled_hvx() supports.
enum { EMBER_SHIFT_MIN_HVX = -31, EMBER_SHIFT_MAX_HVX = 0 };

// The scaling of 32 sums.
typedef struct ember_factors_hvx {
    HVX_Vector multipliers;
    HVX_Vector shifts; // of requantize.h
    HVX_Vector halves; // bits to shift before the last one, which rounds
    HVX_Vector whole;  // -1 where the shift is 0, else 0
} ember_factors_hvx_t;

INLINE ember_factors_hvx_t ember_factors_hvx(HVX_Vector multipliers,
                                             HVX_Vector shifts) {
    const HVX_Vector zero = Q6_V_vzero();
    const HVX_Vector less = Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(-1), shifts);
    return (ember_factors_hvx_t){
        .multipliers = multipliers,
        .shifts = shifts,
        .halves = Q6_Vw_vmax_VwVw(less, zero),
        .whole = Q6_Vw_vasr_VwR(less, 31),
    };
}

// The product with the multiplier takes one instruction for each half of the
// multiplier; negative products that will be shifted are reduced by one: ties are
// rounded away from zero. The average is that of the number with itself if nothing is
// shifted, else with 0.
INLINE HVX_Vector ember_scaled_hvx(HVX_Vector sums, const ember_factors_hvx_t *by) {
    const HVX_Vector low = Q6_Vw_vmpye_VwVuh(sums, by->multipliers);
    const HVX_Vector high =
        Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(low, sums, by->multipliers);
    const HVX_Vector signs = Q6_V_vand_VV(high, by->shifts);
    const HVX_Vector less = Q6_Vw_vasracc_VwVwR(high, signs, 31);
    const HVX_Vector twice = Q6_Vw_vasr_VwVw(less, by->halves);
    return Q6_Vw_vavg_VwVw_rnd(twice, Q6_V_vand_VV(twice, by->whole));
}

// The same if no shift is 0, with a zero point added, twice which is `zeros`: the
// rounding average adds it.
INLINE HVX_Vector ember_shifted_hvx(HVX_Vector sums, HVX_Vector multipliers,
                                    HVX_Vector halves, HVX_Vector zeros) {
    const HVX_Vector low = Q6_Vw_vmpye_VwVuh(sums, multipliers);
    const HVX_Vector high =
        Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(low, sums, multipliers);
    const HVX_Vector less = Q6_Vw_vasracc_VwVwR(high, high, 31);
    return Q6_Vw_vavg_VwVw_rnd(Q6_Vw_vasr_VwVw(less, halves), zeros);
}

// Four vectors of words become one of bytes, saturated to int8.
INLINE HVX_Vector ember_bytes_hvx(HVX_Vector a, HVX_Vector b, HVX_Vector c,
                                  HVX_Vector d) {
    const HVX_Vector low = Q6_Vh_vpack_VwVw_sat(b, a);
    const HVX_Vector high = Q6_Vh_vpack_VwVw_sat(d, c);
    return Q6_Vb_vpack_VhVh_sat(high, low);
}

// A vector of int8 becomes four of words, minus `zero`, which has 16 bits.
INLINE void ember_words_hvx(HVX_Vector bytes, HVX_Vector zero, HVX_Vector *words) {
    const HVX_VectorPair halves = Q6_Wh_vunpack_Vb(bytes);
    const HVX_VectorPair low =
        Q6_Ww_vunpack_Vh(Q6_Vh_vsub_VhVh(Q6_V_lo_W(halves), zero));
    const HVX_VectorPair high =
        Q6_Ww_vunpack_Vh(Q6_Vh_vsub_VhVh(Q6_V_hi_W(halves), zero));
    words[0] = Q6_V_lo_W(low);
    words[1] = Q6_V_hi_W(low);
    words[2] = Q6_V_lo_W(high);
    words[3] = Q6_V_hi_W(high);
}

// Sums of neighbouring words of two vectors: those of a, then those of b.
INLINE HVX_Vector ember_neighbours_hvx(HVX_Vector a, HVX_Vector b) {
    const HVX_VectorPair words = Q6_W_vdeal_VVR(b, a, -4);
    return Q6_Vw_vadd_VwVw(Q6_V_lo_W(words), Q6_V_hi_W(words));
}

// `count` vectors, a power of two, become one with sums of that many words each.
// Clobbers the block.
INLINE HVX_Vector ember_reduced_hvx(HVX_Vector *block, int32_t count) {
    for (; count >= 4; count /= 4) {
        for (int32_t i = 0; i < count; i += 4) {
            const HVX_Vector a = ember_hvx_load(block + i);
            const HVX_Vector b = ember_hvx_load(block + i + 1);
            const HVX_Vector c = ember_hvx_load(block + i + 2);
            const HVX_Vector d = ember_hvx_load(block + i + 3);
            ember_hvx_store(block + i / 4,
                            ember_neighbours_hvx(ember_neighbours_hvx(a, b),
                                                 ember_neighbours_hvx(c, d)));
        }
    }
    const HVX_Vector first = ember_hvx_load(block);
    return count == 1 ? first : ember_neighbours_hvx(first, ember_hvx_load(block + 1));
}

// The first aligned address from `bytes` on.
static inline int8_t *ember_aligned_hvx(int8_t *bytes) {
    return bytes + (-(uintptr_t)bytes & (EMBER_HVX - 1));
}

// Up to 128 bytes; `left` exist.
INLINE HVX_Vector ember_load_left_hvx(const int8_t *x, int32_t left) {
    const int32_t count = ember_hvx_hidden(left);
    return count >= EMBER_HVX ? ember_hvx_load_any(x) : ember_hvx_load_part(x, count);
}

INLINE void ember_store_left_hvx(int8_t *y, HVX_Vector x, int32_t left) {
    const int32_t count = ember_hvx_hidden(left);
    if (count >= EMBER_HVX) {
        ember_hvx_store_any(y, x);
    } else {
        ember_hvx_store_part(y, x, count);
    }
}

// The first bytes of x: 128 of them unless `end` is closer.
INLINE void ember_store_until_hvx(int8_t *y, const int8_t *end, HVX_Vector x) {
    if (end - y >= EMBER_HVX) {
        ember_hvx_store_any(y, x);
    } else {
        ember_hvx_store_part(y, x, (int32_t)(end - y));
    }
}

#endif // EMBER_KERNELS_ENGINE_HVX_SCALE_HVX_H
