// SPDX-License-Identifier: Apache-2.0
// Sums and products of two tensors of int16 with Helium, eight elements at a time, for
// files that define what becomes of a and b.
#ifndef EMBER_KERNELS_CORTEX_M_PAIR_S16_MVE_H
#define EMBER_KERNELS_CORTEX_M_PAIR_S16_MVE_H

#include "kernels/cortex_m/pair_s16.h"
#include "kernels/cortex_m/scale_s16_mve.h"

// Results of eight elements before their limits: the even ones and the odd ones.
typedef struct ember_wide_mve {
    int32x4_t even;
    int32x4_t odd;
} ember_wide_mve_t;

typedef ember_wide_mve_t (*ember_pair_s16_mve_t)(const void *by, int16x8_t a,
                                                 int16x8_t b);

INLINE void ember_pair_s16_mve(const ember_pair_s8_t *pair, ember_limits_s16_t limits,
                               ember_pair_s16_mve_t combined, const void *by) {
    const int16x8_t least = vdupq_n_s16(limits.low);
    const int16x8_t most = vdupq_n_s16(limits.high);

    for (uint32_t i = 0; i < pair->rows; i++) {
        ember_row_s16_t row = ember_row_s16(pair, i);
        for (int32_t left = (int32_t)pair->count; left > 0; left -= EMBER_LANES_S16) {
            const mve_pred16_t lanes = vctp16q((uint32_t)left);
            const int16x8_t a = vldrhq_z_s16(row.a, lanes);
            const int16x8_t b = vldrhq_z_s16(row.b, lanes);
            const ember_wide_mve_t wide = combined(by, a, b);
            const int16x8_t all = ember_narrowed_mve(wide.even, wide.odd);
            vstrhq_p_s16(row.y, vminq_s16(vmaxq_s16(all, least), most), lanes);
            row.a += EMBER_LANES_S16;
            row.b += EMBER_LANES_S16;
            row.y += EMBER_LANES_S16;
        }
    }
}

#endif // EMBER_KERNELS_CORTEX_M_PAIR_S16_MVE_H
