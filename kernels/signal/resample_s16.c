// SPDX-License-Identifier: Apache-2.0
// resample of int16.
#include "kernels/signal/resample.h"

enum { FRACTION = 15, MOST = 32767 };

static int64_t dot(const int16_t *x, const int16_t *taps, uint32_t reach) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < reach; k++) {
        sum += (int32_t)x[k] * taps[k];
    }
    return sum;
}

static int16_t rounded(int64_t sum) {
    const int64_t value = (sum + (1 << (FRACTION - 1))) >> FRACTION;
    return (int16_t)(value > MOST ? MOST : value < -MOST - 1 ? -MOST - 1 : value);
}

static int32_t run(void *state) {
    const ember_resample_t *s = state;
    const int16_t *window = s->window;
    const int16_t *taps = s->taps;
    int16_t *y = s->y;
    for (uint32_t row = 0; row < s->rows; row++, window += s->width) {
        ember_resample_place_t at = {0, 0};
        for (uint32_t m = 0; m < s->count; m++) {
            const int16_t *phase = taps + at.phase * s->reach;
            *y++ = rounded(dot(window + at.sample, phase, s->reach));
            ember_resample_step(s, &at);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_resample_prepare(node, EMBER_S16, state);
}

EMBER_KERNEL(resample_s16, ember_resample_t);
