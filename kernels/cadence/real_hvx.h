// SPDX-License-Identifier: Apache-2.0
// Sums become outputs in float32 with Hexagon's vectors of integers: real_s8.h of
// cortex_m.
#ifndef EMBER_KERNELS_CADENCE_REAL_HVX_H
#define EMBER_KERNELS_CADENCE_REAL_HVX_H

#include "kernels/cortex_m/ending_hvx.h"

// How the dialect scales sums.
typedef struct ember_real_hvx {
    ember_ending_hvx_t ending; // the first field
    float by;
    float inverse;
    int32_t zero_point;
} ember_real_hvx_t;

// `scale` and `inverse` are above 0; `zero_point` is an int8.
ember_real_hvx_t ember_real_hvx(float scale, float inverse, int32_t zero_point);

// The same for sums from -bound to `bound`, which need not be cut to those with results
// in int8.
ember_real_hvx_t ember_real_within_hvx(float scale, float inverse, int32_t zero_point,
                                       int32_t bound);

static inline bool ember_real_hvx_takes(float scale) {
    return scale > 0.0f;
}

#endif // EMBER_KERNELS_CADENCE_REAL_HVX_H
