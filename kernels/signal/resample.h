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

// Checks the call of a kernel for one dtype, and fills its state.
ember_status_t ember_resample_prepare(ember_node_t *node, ember_dtype_t dtype,
                                      ember_resample_t *s);

#endif // EMBER_KERNELS_SIGNAL_RESAMPLE_H
