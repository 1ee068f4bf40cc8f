// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_lines.h in C.
#ifndef EMBER_MODELS_ARM_DSP_LINES_H
#define EMBER_MODELS_ARM_DSP_LINES_H

#include <arm_dsp.h>

static inline void ember_lines_widen_dsp(uint32_t *to, int32_t pitch, const int8_t *x,
                                         int32_t step, int32_t count, uint32_t offset) {
    for (; count > 0; count--) {
        for (int32_t channel = 0; channel < 4; channel++) {
            to[channel * pitch / 4] =
                ember_dsp_pair(ember_dsp_low(offset) + x[channel],
                               ember_dsp_low(offset) + x[step + channel]);
        }
        x += 2 * step;
        to += 3;
    }
}

typedef struct ember_lines_run_dsp {
    const uint32_t *x;
    const uint32_t *weights;
    const ember_filter_dsp_t *by;
    int8_t *y;
    int32_t step;
    int32_t rounds;
    int32_t spare;
    int32_t offset;
    int32_t skip;
    const int8_t *end;
} ember_lines_run_dsp_t;

enum { EMBER_LINES_WEIGHTS = 10 };

// The output at the first element of x[0], and the one at its second.
static inline int8_t ember_lines_first_dsp(const uint32_t *x, const uint32_t *weights,
                                           const ember_filter_dsp_t *by,
                                           int32_t offset) {
    int32_t sum = by->bias;
    for (int32_t i = 0; i < 3; i++) {
        sum = ember_smlad(x[i], weights[2 * i], sum);
        sum = ember_smlabb(x[3 + i], weights[2 * i + 1] >> 16, sum);
    }
    return ember_filtered_dsp(sum, by, offset);
}

static inline int8_t ember_lines_second_dsp(const uint32_t *x, const uint32_t *weights,
                                            const ember_filter_dsp_t *by,
                                            int32_t offset) {
    int32_t sum = by->bias;
    for (int32_t i = 0; i < 3; i++) {
        sum = ember_smlabb(x[i] >> 16, weights[2 * i], sum);
        sum = ember_smlad(x[3 + i], weights[2 * i + 1], sum);
    }
    return ember_filtered_dsp(sum, by, offset);
}

static inline void ember_lines_dsp(const ember_lines_run_dsp_t *run) {
    const int32_t pairs = (run->rounds >> 8) + 1;
    const bool odd = run->spare == 0;
    const uint32_t *x = run->x, *weights = run->weights;
    const ember_filter_dsp_t *by = run->by;

    for (int8_t *first = run->y; first != run->end; first++) {
        int8_t *y = first;
        for (int32_t i = 0; i < pairs; i++) {
            y[0] = ember_lines_first_dsp(x, weights, by, run->offset);
            y[run->step] = ember_lines_second_dsp(x, weights, by, run->offset);
            y += 2 * run->step;
            x += 3;
        }
        if (odd) {
            *y = ember_lines_first_dsp(x, weights, by, run->offset);
            x += 3;
        }
        x += run->skip / 4;
        weights += EMBER_LINES_WEIGHTS;
        by++;
    }
}

#endif // EMBER_MODELS_ARM_DSP_LINES_H
