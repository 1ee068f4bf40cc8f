// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_lines.h in C.
#ifndef EMBER_MODELS_ARM_DSP_LINES_H
#define EMBER_MODELS_ARM_DSP_LINES_H

#include <arm_dsp.h>
#include <stddef.h>

typedef struct ember_lines_widen_dsp {
    const int8_t *x;
    uint32_t *to;
    int32_t lines;
    int32_t pitch;
    int32_t to_pitch;
    uint32_t offset;
    int32_t step;
    int32_t lead;
    int32_t pairs;
    int32_t tail;
} ember_lines_widen_dsp_t;

// A pair of pixels, one of which may lack.
static inline uint32_t *ember_lines_pair_dsp(uint32_t *to, const int8_t *first,
                                             const int8_t *second, int32_t offset) {
    for (int32_t channel = 0; channel < 4; channel++) {
        *to++ = ember_dsp_pair(first == NULL ? 0 : offset + first[channel],
                               second == NULL ? 0 : offset + second[channel]);
    }
    return to;
}

static inline void ember_lines_widen_dsp(const ember_lines_widen_dsp_t *lines) {
    const int32_t offset = ember_dsp_low(lines->offset), step = lines->step;

    for (int32_t line = 0; line < lines->lines; line++) {
        const int8_t *x = lines->x + line * lines->pitch;
        uint32_t *to = lines->to + line * (lines->to_pitch / 4);
        if (lines->lead) {
            to = ember_lines_pair_dsp(to, NULL, x, offset);
            x += step;
        }
        for (int32_t pair = 0; pair < lines->pairs; pair++) {
            to = ember_lines_pair_dsp(to, x, x + step, offset);
            x += 2 * step;
        }
        if (lines->tail) {
            ember_lines_pair_dsp(to, x, NULL, offset);
        }
    }
}

typedef struct ember_lines_run_dsp {
    const uint32_t *x;
    int32_t pitch;
    const uint32_t *weights;
    const ember_filter_dsp_t *by;
    int8_t *y;
    int32_t step;
    int32_t span;
    int32_t odd;
    int32_t offset;
    int32_t down;
    int32_t y_down;
    int32_t rows;
    int32_t apart;
} ember_lines_run_dsp_t;

// The halves of both words of a channel, one of which is left out.
static inline int32_t ember_lines_taps_dsp(int32_t sum, const uint32_t *x, bool later,
                                           const uint32_t *w) {
    if (later) {
        sum = ember_smlabb(x[0] >> 16, w[0], sum);
        return ember_smlad(x[4], w[4], sum);
    }
    sum = ember_smlad(x[0], w[0], sum);
    return ember_smlabb(x[4], w[4] >> 16, sum);
}

// The four channels of the output whose taps begin at `x`, or at its second pixel.
static inline void ember_lines_output_dsp(const ember_lines_run_dsp_t *run,
                                          const uint32_t *x, bool later, int8_t *y) {
    for (int32_t c = 0; c < 4; c++) {
        int32_t sum = run->by[c].bias;
        for (int32_t line = 0; line < 3; line++) {
            sum = ember_lines_taps_dsp(sum, x + line * (run->pitch / 4) + c, later,
                                       run->weights + line * 8 + c);
        }
        y[c] = ember_filtered_dsp(sum, &run->by[c], run->offset);
    }
}

static inline void ember_lines_dsp(const ember_lines_run_dsp_t *run) {
    const bool later = !run->apart;

    for (int32_t row = 0; row < run->rows; row++) {
        const uint32_t *x = run->x + row * (run->down / 4);
        int8_t *y = run->y + row * run->y_down;
        const int8_t *end = y + run->span;
        do {
            ember_lines_output_dsp(run, later ? x : x + 4, later, y + run->step);
            ember_lines_output_dsp(run, x, false, y);
            y += 2 * run->step;
            x += later ? 4 : 8;
        } while (y != end);
        if (run->odd) {
            ember_lines_output_dsp(run, x, false, y);
        }
    }
}

#endif // EMBER_MODELS_ARM_DSP_LINES_H
