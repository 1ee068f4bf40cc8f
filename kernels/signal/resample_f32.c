// SPDX-License-Identifier: Apache-2.0
// resample of float32.
#include "kernels/signal/resample.h"

static float dot(const float *x, const float *taps, uint32_t reach) {
    float sum = 0.0f;
    for (uint32_t k = 0; k < reach; k++) {
        sum += x[k] * taps[k];
    }
    return sum;
}

static int32_t run(void *state) {
    const ember_resample_t *s = state;
    const float *window = s->window;
    const float *taps = s->taps;
    float *y = s->y;
    for (uint32_t row = 0; row < s->rows; row++, window += s->width) {
        ember_resample_place_t at = {0, 0};
        for (uint32_t m = 0; m < s->count; m++) {
            *y++ = dot(window + at.sample, taps + at.phase * s->reach, s->reach);
            ember_resample_step(s, &at);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_resample_prepare(node, EMBER_F32, state);
}

EMBER_KERNEL(resample_f32, ember_resample_t);
