// SPDX-License-Identifier: Apache-2.0
// Part of convolution_neon.c: which outputs the same taps reach, and what is under the
// taps of an output.
#ifndef EMBER_KERNELS_CONVOLUTION_PHASES_NEON_H
#define EMBER_KERNELS_CONVOLUTION_PHASES_NEON_H

#include "kernels/convolution/conv.h"
#include "kernels/engine/neon/widen_neon.h"

enum { DIMS = EMBER_CONV_DIMS };

// Outputs whose positions differ by multiples of the steps.
typedef struct {
    int32_t first[DIMS];
    int32_t step[DIMS];
    int32_t count[DIMS];
    int32_t taps; // that reach them
} phase_t;

// A tap, or an output.
typedef struct {
    int32_t at[DIMS];
} position_t;

static bool reaches(const ember_conv_t *conv, const phase_t *phase, uint32_t d,
                    int32_t tap) {
    return !conv->transposed ||
           (phase->first[d] + conv->padding[d] - tap * conv->dilation[d]) %
                   conv->stride[d] ==
               0;
}

// The next tap that reaches the phase; false after the last. Begins at {0, 0, -1}.
static bool next_tap(const ember_conv_t *conv, const phase_t *phase, position_t *tap) {
    do {
        uint32_t d = DIMS - 1;
        while (++tap->at[d] == conv->kernel[d]) {
            if (d == 0) {
                return false;
            }
            tap->at[d--] = 0;
        }
    } while (!reaches(conv, phase, 0, tap->at[0]) ||
             !reaches(conv, phase, 1, tap->at[1]) ||
             !reaches(conv, phase, 2, tap->at[2]));
    return true;
}

static const position_t before_taps = {{0, 0, -1}};

// Along a dimension, as many phases as have outputs.
static int32_t phases_along(const ember_conv_t *conv, uint32_t d) {
    const int32_t stride = conv->transposed ? conv->stride[d] : 1;
    return stride < conv->out[d] ? stride : conv->out[d];
}

static phase_t phase_at(const ember_conv_t *conv, int32_t d0, int32_t d1, int32_t d2) {
    phase_t phase = {.first = {d0, d1, d2}};
    position_t tap = before_taps;

    for (uint32_t d = 0; d < DIMS; d++) {
        phase.step[d] = conv->transposed ? conv->stride[d] : 1;
        phase.count[d] = (conv->out[d] - phase.first[d] - 1) / phase.step[d] + 1;
    }
    while (next_tap(conv, &phase, &tap)) {
        phase.taps++;
    }
    return phase;
}

// Output `index` of a phase.
static position_t position_of(const phase_t *phase, int32_t index) {
    position_t position;

    for (uint32_t d = DIMS; d-- > 0;) {
        position.at[d] = phase->first[d] + index % phase->count[d] * phase->step[d];
        index /= phase->count[d];
    }
    return position;
}

// Receives the channels under a tap; NULL: it is outside the image.
typedef void (*take_fn)(void *context, const float *channels);

// Passes on what is under each tap of an output that reaches its phase.
EMBER_NEON_INLINE void each_tap(const ember_conv_t *conv, const phase_t *phase,
                                const float *image, position_t output, take_fn take,
                                void *context) {
    const ptrdiff_t channels = (ptrdiff_t)conv->groups * conv->channels;

    for (int32_t i = 0; i < conv->kernel[0]; i++) {
        const int32_t d = ember_conv_source(conv, 0, output.at[0], i);
        for (int32_t j = 0; j < conv->kernel[1]; j++) {
            const int32_t h = ember_conv_source(conv, 1, output.at[1], j);
            const ptrdiff_t row = ((ptrdiff_t)d * conv->in[1] + h) * conv->in[2];
            if (!reaches(conv, phase, 0, i) || !reaches(conv, phase, 1, j)) {
                continue;
            }
            for (int32_t k = 0; k < conv->kernel[2]; k++) {
                const int32_t w = ember_conv_source(conv, 2, output.at[2], k);
                if (reaches(conv, phase, 2, k)) {
                    const bool inside = d >= 0 && h >= 0 && w >= 0;
                    take(context, inside ? image + (row + w) * channels : NULL);
                }
            }
        }
    }
}

#endif // EMBER_KERNELS_CONVOLUTION_PHASES_NEON_H
