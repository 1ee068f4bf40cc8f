// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_pixels.h in C.
#ifndef EMBER_MODELS_ARM_DSP_PIXELS_H
#define EMBER_MODELS_ARM_DSP_PIXELS_H

#include <arm_dsp_real.h>

typedef struct ember_pixels_widen_dsp {
    uint32_t *to;
    const int8_t *x;
    int32_t step;
    uint32_t offset;
    int32_t count;
    int32_t rows;
    int32_t skip;
    int32_t to_skip;
} ember_pixels_widen_dsp_t;

static inline void ember_pixels_widen_dsp(const ember_pixels_widen_dsp_t *pixels) {
    const int8_t *x = pixels->x;
    uint32_t *to = pixels->to;

    for (int32_t row = 0; row < pixels->rows; row++) {
        for (int32_t i = 0; i < pixels->count; i++) {
            const int8_t *at = x;
            const uint32_t word = ember_ldr_next(&at);
            *to++ = ember_sxtab16(pixels->offset, word);
            *to++ = ember_sxtab16_odd(pixels->offset, word);
            x += pixels->step;
        }
        x += pixels->skip;
        to += pixels->to_skip / 4;
    }
}

typedef struct ember_channels_dsp {
    int32_t bias[4];
    uint32_t weights[18];
    struct {
        int32_t multiplier, power;
    } by[4];
} ember_channels_dsp_t;

typedef struct ember_pixels_run_dsp {
    const uint32_t *x;
    const ember_channels_dsp_t *channels;
    int8_t *y;
    int32_t pitch;
    int32_t next;
    int32_t down;
    int32_t y_next;
    int32_t y_down;
    int32_t last;
    int32_t rows;
    int32_t offset;
} ember_pixels_run_dsp_t;

// `real` scales all sums, or NULL.
static inline void ember_pixels_one_dsp(const ember_pixels_run_dsp_t *run,
                                        const uint32_t *x, int8_t *y,
                                        const ember_real_dsp_t *real) {
    const ember_channels_dsp_t *channels = run->channels;

    for (int32_t c = 0; c < 4; c++) {
        const int32_t half = c % 2, shift = c / 2 * 16;
        int32_t sum = channels->bias[c];
        for (int32_t tap = 0; tap < 9; tap++) {
            const uint32_t word = x[tap / 3 * run->pitch / 4 + tap % 3 * 2 + half];
            const uint32_t weight = channels->weights[2 * tap + half];
            sum = ember_smlabb(word >> shift, weight >> shift, sum);
        }
        y[c] = real != NULL ? ember_real_one_dsp(sum, real)
                            : ember_powered_dsp(sum, channels->by[c].multiplier,
                                                channels->by[c].power, run->offset);
    }
}

static inline void ember_pixels_rows_dsp(const ember_pixels_run_dsp_t *run,
                                         const ember_real_dsp_t *real) {
    for (int32_t row = 0; row < run->rows; row++) {
        const uint32_t *x = run->x + row * run->down / 4;
        int8_t *y = run->y + row * run->y_down;
        for (int32_t at = 0; at <= run->last + run->y_next; at += run->y_next) {
            ember_pixels_one_dsp(run, x, y + at, real);
            x += run->next / 4;
        }
    }
}

static inline void ember_pixels_run_dsp(const ember_pixels_run_dsp_t *run) {
    ember_pixels_rows_dsp(run, NULL);
}

enum { EMBER_PIXELS_REAL_DSP = 1 };

static inline void ember_pixels_real_dsp(const ember_pixels_run_dsp_t *run,
                                         const ember_real_dsp_t *by) {
    const ember_real_dsp_t real = {by->scale, by->inverse, run->offset};
    ember_pixels_rows_dsp(run, &real);
}

#endif // EMBER_MODELS_ARM_DSP_PIXELS_H
