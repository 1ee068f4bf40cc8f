// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_lines.h in C.
#ifndef EMBER_MODELS_ARM_DSP_LINES_H
#define EMBER_MODELS_ARM_DSP_LINES_H

#include <arm_dsp_real.h>
#include <stdbool.h>
#include <stddef.h>

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

// An output of a sum; `real`: how it is scaled in float32, or NULL.
static inline int8_t ember_lines_end_dsp(int32_t sum, const ember_lines_run_dsp_t *run,
                                         const ember_filter_dsp_t *by,
                                         const ember_real_dsp_t *real) {
    if (real == NULL) {
        return ember_filtered_dsp(sum, by, run->offset);
    }
    const ember_real_dsp_t scaled = {real->scale, real->inverse, by->multiplier};
    return ember_real_one_dsp(sum, &scaled);
}

// The output at the first element of x[0], and the one at its second.
static inline int8_t ember_lines_first_dsp(const uint32_t *x, const uint32_t *weights,
                                           const ember_lines_run_dsp_t *run,
                                           const ember_filter_dsp_t *by,
                                           const ember_real_dsp_t *real) {
    int32_t sum = by->bias;
    for (int32_t i = 0; i < 3; i++) {
        sum = ember_smlad(x[i], weights[2 * i], sum);
        sum = ember_smlabb(x[3 + i], weights[2 * i + 1] >> 16, sum);
    }
    return ember_lines_end_dsp(sum, run, by, real);
}

static inline int8_t ember_lines_second_dsp(const uint32_t *x, const uint32_t *weights,
                                            const ember_lines_run_dsp_t *run,
                                            const ember_filter_dsp_t *by,
                                            const ember_real_dsp_t *real) {
    int32_t sum = by->bias;
    for (int32_t i = 0; i < 3; i++) {
        sum = ember_smlabb(x[i] >> 16, weights[2 * i], sum);
        sum = ember_smlad(x[3 + i], weights[2 * i + 1], sum);
    }
    return ember_lines_end_dsp(sum, run, by, real);
}

static inline void ember_lines_by_1_dsp(const ember_lines_run_dsp_t *run,
                                        const ember_real_dsp_t *real) {
    const int32_t pairs = (run->rounds >> 8) + 1;
    const bool odd = run->spare == 0;
    const uint32_t *x = run->x, *weights = run->weights;
    const ember_filter_dsp_t *by = run->by;

    for (int8_t *first = run->y; first != run->end; first++) {
        int8_t *y = first;
        for (int32_t i = 0; i < pairs; i++) {
            y[0] = ember_lines_first_dsp(x, weights, run, by, real);
            y[run->step] = ember_lines_second_dsp(x, weights, run, by, real);
            y += 2 * run->step;
            x += 3;
        }
        if (odd) {
            *y = ember_lines_first_dsp(x, weights, run, by, real);
            x += 3;
        }
        x += run->skip / 4;
        weights += EMBER_LINES_WEIGHTS;
        by++;
    }
}

static inline void ember_lines_by_2_dsp(const ember_lines_run_dsp_t *run,
                                        const ember_real_dsp_t *real) {
    const uint32_t *x = run->x, *weights = run->weights;
    const ember_filter_dsp_t *by = run->by;

    for (int8_t *first = run->y; first != run->end; first++) {
        for (int32_t i = 0; i <= run->rounds >> 8; i++) {
            first[i * run->step] = ember_lines_first_dsp(x, weights, run, by, real);
            x += 3;
        }
        x += run->skip / 4;
        weights += EMBER_LINES_WEIGHTS;
        by++;
    }
}

static inline void ember_lines_dsp(const ember_lines_run_dsp_t *run) {
    ember_lines_by_1_dsp(run, NULL);
}

enum { EMBER_LINES_REAL_DSP = 1 };

static inline void ember_lines_real_1_dsp(const ember_lines_run_dsp_t *run,
                                          const ember_real_dsp_t *by) {
    ember_lines_by_1_dsp(run, by);
}

static inline void ember_lines_real_2_dsp(const ember_lines_run_dsp_t *run,
                                          const ember_real_dsp_t *by) {
    ember_lines_by_2_dsp(run, by);
}

#endif // EMBER_MODELS_ARM_DSP_LINES_H
