// SPDX-License-Identifier: Apache-2.0
// Sums become outputs in float32 with Helium: real_s8.h of cortex_m, four at a time.
#ifndef EMBER_KERNELS_CADENCE_REAL_MVE_H
#define EMBER_KERNELS_CADENCE_REAL_MVE_H

#include "kernels/engine/mve/products_mve.h"

typedef struct ember_real_mve {
    float scale;
    float inverse;
    int32_t zero_point;
} ember_real_mve_t;

// Rounded, halves to even; numbers that int32 has not are cut.
INLINE int32x4_t ember_real_mve(int32x4_t sums, float scale, float inverse) {
    const float32x4_t real = vmulq_n_f32(vcvtq_f32_s32(sums), scale);
    return vcvtnq_s32_f32(vmulq_n_f32(real, inverse));
}

// `count` sums become outputs.
INLINE void ember_real_store_mve(const ember_real_mve_t *by, const int32_t *sums,
                                 int32_t count, int8_t *y) {
    const float scale = by->scale, inverse = by->inverse;

    for (; count >= EMBER_LANES_S16; count -= EMBER_LANES_S16) {
        const int32x4x2_t eight = vld2q_s32(sums);
        const int32x4_t even = ember_real_mve(eight.val[0], scale, inverse);
        const int32x4_t odd = ember_real_mve(eight.val[1], scale, inverse);
        ember_store_eight_mve(y, even, odd, by->zero_point);
        sums += EMBER_LANES_S16;
        y += EMBER_LANES_S16;
    }
    for (; count > 0; count -= EMBER_LANES_S32) {
        const mve_pred16_t lanes = vctp32q((uint32_t)count);
        const int32x4_t real =
            ember_real_mve(vldrwq_z_s32(sums, lanes), scale, inverse);
        const int32x4_t q = vqaddq_s32(real, vdupq_n_s32(by->zero_point));
        vstrbq_p_s32(
            y, vminq_s32(vmaxq_s32(q, vdupq_n_s32(INT8_MIN)), vdupq_n_s32(INT8_MAX)),
            lanes);
        sums += EMBER_LANES_S32;
        y += EMBER_LANES_S32;
    }
}

#endif // EMBER_KERNELS_CADENCE_REAL_MVE_H
