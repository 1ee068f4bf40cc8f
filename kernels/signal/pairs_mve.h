// SPDX-License-Identifier: Apache-2.0
// Two complex numbers in a vector of Helium. Sums and products are those of fft.h, bit
// for bit, but denormals are flushed to zero.
#ifndef EMBER_KERNELS_SIGNAL_PAIRS_MVE_H
#define EMBER_KERNELS_SIGNAL_PAIRS_MVE_H

#include <arm_mve.h>

#include "kernels/signal/fft.h"

static inline float32x4_t ember_pairs_load(const ember_complex_t *x) {
    return vldrwq_f32(&x->re);
}

static inline void ember_pairs_store(ember_complex_t *y, float32x4_t pairs) {
    vstrwq_f32(&y->re, pairs);
}

// Offsets of two complex numbers, the second one `step` behind the first.
static inline uint32x4_t ember_pairs_offsets(uint32_t step) {
    const uint32x4_t odd = vandq_u32(vidupq_n_u32(0, 1), vdupq_n_u32(1));
    const uint32x4_t second = vshrq_n_u32(vidupq_n_u32(0, 1), 1);
    return vaddq_u32(odd, vmulq_n_u32(second, 2 * step));
}

static inline float32x4_t ember_pairs_gather(const ember_complex_t *x,
                                             uint32x4_t offsets) {
    return vldrwq_gather_shifted_offset_f32(&x->re, offsets);
}

static inline void ember_pairs_scatter(ember_complex_t *y, uint32x4_t offsets,
                                       float32x4_t pairs) {
    vstrwq_scatter_shifted_offset_f32(&y->re, offsets, pairs);
}

// a times w: products are rounded, then added.
static inline float32x4_t ember_pairs_mul(float32x4_t a, float32x4_t w) {
    return vaddq_f32(vcmulq_f32(a, w), vcmulq_rot90_f32(a, w));
}

#endif // EMBER_KERNELS_SIGNAL_PAIRS_MVE_H
