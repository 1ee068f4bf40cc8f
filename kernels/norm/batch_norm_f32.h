// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with given statistics, float32, any one dim order:
// y = x scale + shift for each channel, both folded when the channel begins.
#ifndef EMBER_KERNELS_NORM_BATCH_NORM_F32_H
#define EMBER_KERNELS_NORM_BATCH_NORM_F32_H

#include "kernels/engine/axis.h"

typedef struct ember_batch_norm_f32 {
    ember_axis_t axis;
    const float *weight; // (channels,), or NULL
    const float *bias;   // (channels,), or NULL
    const float *mean;   // (channels,)
    const float *var;    // (channels,)
    float eps;
} ember_batch_norm_f32_t;

EMBER_MUST_USE ember_status_t ember_batch_norm_f32_prepare(ember_node_t *node,
                                                           void *state);

// y[i] = x[i] scale + shift for `count` elements, `step` apart; y may be x.
typedef void (*ember_affine_fn)(const float *x, float *y, uint32_t count, uint32_t step,
                                float scale, float shift);

// Calls `affine` for all elements of each channel, adjacent or one step apart.
static inline void ember_batch_norm_f32_each(const ember_batch_norm_f32_t *s,
                                             ember_affine_fn affine) {
    const uint32_t channels = s->axis.count, inner = s->axis.inner;
    const uint32_t outer = s->axis.outer;
    const size_t next = (size_t)channels * inner;
    const float *x = (const float *)(const void *)s->axis.x;
    float *y = (float *)(void *)s->axis.y;

    for (uint32_t c = 0; c < channels && outer > 0; c++) {
        const float rstd = 1.0f / __builtin_sqrtf(s->var[c] + s->eps);
        const float scale = s->weight != NULL ? s->weight[c] * rstd : rstd;
        const float shift = (s->bias != NULL ? s->bias[c] : 0.0f) - s->mean[c] * scale;
        if (inner == 1) { // channels are innermost
            affine(x, y, outer, channels, scale, shift);
        } else {
            for (uint32_t o = 0; o < outer; o++) {
                affine(x + o * next, y + o * next, inner, 1, scale, shift);
            }
        }
        x += inner;
        y += inner;
    }
}

#endif // EMBER_KERNELS_NORM_BATCH_NORM_F32_H
