// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_norms.h in C.
#ifndef EMBER_MODELS_ARM_DSP_NORMS_H
#define EMBER_MODELS_ARM_DSP_NORMS_H

#include <arm_dsp.h>

typedef struct ember_norm_row_dsp {
    const int8_t *x;
    const int32_t *g;
    const int32_t *b;
    int8_t *y;
    const int8_t *end;
    int32_t multiplier;
    int32_t start;
} ember_norm_row_dsp_t;

typedef struct ember_norm_lines_dsp {
    const int8_t *x;
    int8_t *y;
    int32_t step;
    int32_t rounds;
    int32_t lines[8];
} ember_norm_lines_dsp_t;

typedef struct ember_prelu_lines_dsp {
    const int8_t *x;
    int8_t *y;
    int32_t step;
    int32_t rounds;
    int32_t slopes[4];
    int32_t zero_point;
    int32_t positive;
    int32_t start;
} ember_prelu_lines_dsp_t;

static inline int32_t ember_norm_line_model(int32_t x, int32_t by, int32_t start) {
    return (int32_t)((uint32_t)x * (uint32_t)by + (uint32_t)start);
}

static inline void ember_norm_sums_dsp(const int8_t *x, uint32_t pairs, int32_t *sum,
                                       uint32_t *squares) {
    for (uint32_t i = 0; i < 8 * pairs; i++) {
        *sum += x[i];
        *squares += (uint32_t)(x[i] * x[i]);
    }
}

static inline void ember_norm_row_dsp(const ember_norm_row_dsp_t *row) {
    for (int32_t i = 0; row->y + i != row->end; i++) {
        const int32_t n = ember_norm_line_model(row->x[i], row->multiplier, row->start);
        const int32_t sum = ember_smmlar(n, row->g[i], row->b[i]);
        row->y[i] = (int8_t)ember_ssat8(sum >> 8);
    }
}

static inline void ember_norm_channels_dsp(const int8_t *x, int32_t step,
                                           uint32_t count, int32_t *sums,
                                           uint32_t *squares) {
    for (uint32_t i = 0; i < count; i++) {
        for (int32_t c = 0; c < 4; c++) {
            sums[c] += x[c];
            squares[c] += (uint32_t)(x[c] * x[c]);
        }
        x += step;
    }
}

static inline void ember_norm_lines_dsp(const ember_norm_lines_dsp_t *task) {
    const int8_t *x = task->x;
    int8_t *y = task->y;
    for (int32_t rounds = task->rounds; rounds >= 0; rounds -= 256) {
        for (int32_t c = 0; c < 4; c++) {
            const int32_t *line = task->lines + 2 * c;
            const int32_t sum = ember_norm_line_model(x[c], line[0], line[1]);
            const int32_t limited = ember_ssat8(sum >> (task->rounds & 255));
            y[c] = (int8_t)limited;
        }
        x += task->step;
        y += task->step;
    }
}

static inline void ember_prelu_lines_dsp(const ember_prelu_lines_dsp_t *task) {
    const int8_t *x = task->x;
    int8_t *y = task->y;
    for (int32_t rounds = task->rounds; rounds >= 0; rounds -= 256) {
        for (int32_t c = 0; c < 4; c++) {
            const int32_t moved = x[c] - task->zero_point;
            const int32_t by = moved < 0 ? task->slopes[c] : task->positive;
            const int32_t sum = ember_norm_line_model(moved, by, task->start);
            const int32_t limited = ember_ssat8(sum >> (task->rounds & 255));
            y[c] = (int8_t)limited;
        }
        x += task->step;
        y += task->step;
    }
}

#endif // EMBER_MODELS_ARM_DSP_NORMS_H
