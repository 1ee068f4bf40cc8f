// SPDX-License-Identifier: Apache-2.0
// resample: filters by taps, at another rate: `up` results for `down` samples; with 1
// and 1 a FIR filter.
//
//     out[.., m] = sum over k of window[.., m * down / up + k] * taps[m * down % up, k]
//
//     window  (.., reach - 1 + n)      the samples before the new ones, then n of these
//     taps    (up, reach)              of each phase, for the oldest sample first
//     out     (.., n * up / down)      n is a multiple of down / gcd(up, down)
//
// float32, added in the order of k; or int16, where taps have 15 fraction bits, sums
// are exact, and a result is rounded (half up) and saturated.
#ifndef EMBER_KERNELS_SIGNAL_RESAMPLE_H
#define EMBER_KERNELS_SIGNAL_RESAMPLE_H

#include "ember/node.h"
#include "kernels/engine/dot_s16.h"

#include <string.h>

typedef struct ember_resample {
    const void *window; // (rows, width)
    const void *taps;   // (up, reach)
    void *y;            // (rows, count)
    uint32_t rows;
    uint32_t width;
    uint32_t count;
    uint32_t reach;
    uint32_t up;
    uint32_t down;
} ember_resample_t;

// Where a result is taken from; the next one is `down` / `up` samples behind.
typedef struct ember_resample_place {
    uint32_t sample;
    uint32_t phase;
} ember_resample_place_t;

static inline void ember_resample_step(const ember_resample_t *s,
                                       ember_resample_place_t *at) {
    at->phase += s->down;
    while (at->phase >= s->up) {
        at->phase -= s->up;
        at->sample++;
    }
}

// A sum of 15 fraction bits as int16, rounded and saturated.
static inline int16_t ember_resample_rounded(int64_t sum) {
    enum { FRACTION = 15, MOST = 32767 };
    const int64_t value = (sum + (1 << (FRACTION - 1))) >> FRACTION;
    return (int16_t)(value > MOST ? MOST : value < -MOST - 1 ? -MOST - 1 : value);
}

// Runs an int16 call: `dot` gives the exact sum of products.
static inline __attribute__((always_inline)) void
ember_resample_s16_run(const ember_resample_t *s, ember_dot_s16_fn dot) {
    const int16_t *window = s->window;
    const int16_t *taps = s->taps;
    int16_t *y = s->y;
    for (uint32_t row = 0; row < s->rows; row++, window += s->width) {
        ember_resample_place_t at = {0, 0};
        for (uint32_t m = 0; m < s->count; m++) {
            const int16_t *phase = taps + at.phase * s->reach;
            *y++ = ember_resample_rounded(dot(window + at.sample, phase, s->reach));
            ember_resample_step(s, &at);
        }
    }
}

// Checks the call of a kernel for one dtype, and fills its state.
ember_status_t ember_resample_prepare(ember_node_t *node, ember_dtype_t dtype,
                                      ember_resample_t *s);

#endif // EMBER_KERNELS_SIGNAL_RESAMPLE_H
