// SPDX-License-Identifier: Apache-2.0
// ember::winograd_conv2d.out: filters are transformed back in every run.
#include "kernels/engine/int8/conv_s8_run.h"
#include "kernels/engine/int8/winograd_s8.h"

enum { SIDE = EMBER_WINOGRAD_SIDE, TERMS = EMBER_WINOGRAD_TERMS, TAPS = 3, PAIR = 2 };

typedef struct {
    ember_conv_s8_t conv;
    const int16_t *weights;
    int8_t *plain; // (filters, 3, 3, channels)
} state_t;

// Four values of 2 G g become the three of g, `step` apart.
static void back(const int32_t *from, int32_t *to, int32_t step) {
    to[0] = from[0] / 2;
    to[step] = (from[step] - from[2 * step]) / 2;
    to[2 * step] = from[3 * step] / 2;
}

// The taps of a channel of a filter: at weights[position * step].
static void set_taps(const int16_t *weights, ptrdiff_t step, int8_t *taps,
                     int32_t channels) {
    int32_t u[TERMS];

    for (int32_t i = 0; i < TERMS; i++) {
        u[i] = weights[i * step];
    }
    for (int32_t column = 0; column < SIDE; column++) {
        back(u + column, u + column, SIDE);
    }
    for (int32_t row = 0; row < TAPS; row++) {
        back(u + SIDE * row, u + SIDE * row, 1);
        for (int32_t column = 0; column < TAPS; column++) {
            *taps = (int8_t)u[SIDE * row + column];
            taps += channels;
        }
    }
}

static void set_plain(const state_t *s) {
    const int32_t channels = s->conv.channels;
    const ptrdiff_t step = (ptrdiff_t)PAIR * channels; // to the next of 16

    for (int32_t f = 0; f < s->conv.filters; f++) {
        const int16_t *w = s->weights + f / PAIR * TERMS * step + f % PAIR * PAIR;
        int8_t *taps = s->plain + (ptrdiff_t)f * TAPS * TAPS * channels;
        for (int32_t c = 0; c < channels; c++) {
            // (four, odd or even, filter, which of two)
            const int32_t at = c / 4 * 8 + c % 2 * 4 + c % 4 / 2;
            set_taps(w + at, step, taps + c, channels);
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    ember_conv_s8_t conv = s->conv;

    set_plain(s);
    conv.w = s->plain;
    ember_conv_s8_run(&conv, false);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const ember_status_t status = ember_winograd_s8_args(&s->conv, node, &s->weights);

    if (status != EMBER_OK) {
        return status;
    }
    const size_t taps = (size_t)(TAPS * TAPS * s->conv.channels);
    s->plain = ember_node_scratch(node, (size_t)s->conv.filters * taps);
    return ember_node_status(node);
}

EMBER_KERNEL(winograd_conv2d_s8, state_t);
