// SPDX-License-Identifier: Apache-2.0
// Sums become outputs in float32 with Hexagon's vectors of integers: real_s8.h of
// cortex_m.
#ifndef EMBER_KERNELS_CADENCE_REAL_HVX_H
#define EMBER_KERNELS_CADENCE_REAL_HVX_H

#include "kernels/engine/hvx/ending_hvx.h"

// How the dialect scales sums, made at load: numbers of ember_ending_hvx_t.
typedef struct ember_real_hvx {
    float by;
    float inverse;
    int32_t zero_point;
    int32_t least;
    int32_t most;
    int32_t factor;
    int32_t start;
    int32_t left;
    int32_t places;
    int32_t doubt;
} ember_real_hvx_t;

// The same in a run.
typedef struct ember_real_ending_hvx {
    ember_ending_hvx_t ending; // the first field
    const ember_real_hvx_t *real;
} ember_real_ending_hvx_t;

// `scale` and `inverse` are above 0; `zero_point` is an int8.
ember_real_hvx_t ember_real_hvx(float scale, float inverse, int32_t zero_point);

// The same for sums from -bound to `bound`, which need not be cut to those with results
// in int8.
ember_real_hvx_t ember_real_within_hvx(float scale, float inverse, int32_t zero_point,
                                       int32_t bound);

ember_real_ending_hvx_t ember_real_ending_hvx(const ember_real_hvx_t *real);

static inline bool ember_real_hvx_takes(float scale) {
    return scale > 0.0f;
}

#endif // EMBER_KERNELS_CADENCE_REAL_HVX_H
