// SPDX-License-Identifier: Apache-2.0
// A model in C of the DSP instructions that kernels use (kernels/intrinsics/arm_dsp.h),
// for compilers of computers without them. Sums wrap around.
#ifndef EMBER_MODELS_ARM_DSP_H
#define EMBER_MODELS_ARM_DSP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline int32_t ember_dsp_low(uint32_t x) {
    return (int16_t)(uint16_t)x;
}

static inline int32_t ember_dsp_high(uint32_t x) {
    return (int16_t)(uint16_t)(x >> 16);
}

static inline uint32_t ember_dsp_pair(int32_t low, int32_t high) {
    return (uint16_t)low | (uint32_t)(uint16_t)high << 16;
}

static inline uint32_t ember_sxtab16(uint32_t to, uint32_t x) {
    return ember_dsp_pair(ember_dsp_low(to) + (int8_t)(uint8_t)x,
                          ember_dsp_high(to) + (int8_t)(uint8_t)(x >> 16));
}

static inline uint32_t ember_sxtab16_odd(uint32_t to, uint32_t x) {
    return ember_sxtab16(to, x >> 8 | x << 24);
}

static inline uint32_t ember_sxtb16(uint32_t x) {
    return ember_sxtab16(0, x);
}

static inline uint32_t ember_sxtb16_odd(uint32_t x) {
    return ember_sxtab16_odd(0, x);
}

static inline int32_t ember_smmulr(int32_t a, int32_t b) {
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 31)) >> 32);
}

static inline int32_t ember_add_twice(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + ((uint32_t)b << 1));
}

static inline int32_t ember_ssat8_half(int32_t x) {
    x >>= 1;
    return x < INT8_MIN ? INT8_MIN : x > INT8_MAX ? INT8_MAX : x;
}

static inline int32_t ember_smlabb(uint32_t a, uint32_t b, int32_t sum) {
    const int32_t product = ember_dsp_low(a) * ember_dsp_low(b);
    return (int32_t)((uint32_t)sum + (uint32_t)product);
}

static inline int32_t ember_smlatt(uint32_t a, uint32_t b, int32_t sum) {
    return ember_smlabb(a >> 16, b >> 16, sum);
}

static inline int32_t ember_smlad(uint32_t a, uint32_t b, int32_t sum) {
    return ember_smlatt(a, b, ember_smlabb(a, b, sum));
}

static inline int32_t ember_smulbb(uint32_t a, uint32_t b) {
    return ember_smlabb(a, b, 0);
}

static inline int32_t ember_smultt(uint32_t a, uint32_t b) {
    return ember_smlatt(a, b, 0);
}

static inline uint32_t ember_ldr_next(const int8_t **at) {
    uint32_t word;
    memcpy(&word, *at, sizeof(word));
    *at += sizeof(word);
    return word;
}

static inline int32_t ember_add_four(int32_t sum, uint32_t bytes, uint32_t even,
                                     uint32_t odd) {
    sum = ember_smlad(ember_sxtb16(bytes), even, sum);
    return ember_smlad(ember_sxtb16_odd(bytes), odd, sum);
}

static inline int32_t ember_smmlar(int32_t a, int32_t b, int32_t to) {
    return (int32_t)((uint32_t)to + (uint32_t)ember_smmulr(a, b));
}

typedef struct ember_filter_dsp {
    int32_t bias;
    int32_t multiplier;
    int32_t shift;
} ember_filter_dsp_t;

typedef struct ember_tiles_dsp {
    const int8_t *w;
    const uint32_t *x;
    int32_t pitch;
    int32_t blocks;
    const ember_filter_dsp_t *by;
    int32_t pairs;
    int8_t *y[3];
    int32_t offset;
} ember_tiles_dsp_t;

static inline int8_t ember_filtered_dsp(int32_t sum, const ember_filter_dsp_t *by,
                                        int32_t offset) {
    const int32_t high = ember_smmlar(sum, by->multiplier, sum);
    const int32_t shifted = (high + (high >> 31)) >> by->shift;
    return (int8_t)ember_ssat8_half(shifted + offset);
}

static inline void ember_tiles_dsp(const ember_tiles_dsp_t *tiles) {
    for (int32_t f = 0; f < 2 * tiles->pairs; f++) {
        const ember_filter_dsp_t *by = tiles->by + f;
        for (int32_t n = 0; n < 3; n++) {
            const int8_t *from = tiles->w + f * tiles->pitch;
            int32_t sum = by->bias;
            for (int32_t i = 0; i < tiles->blocks; i++) {
                const uint32_t *words = tiles->x + 6 * i + n;
                sum = ember_add_four(sum, ember_ldr_next(&from), words[0], words[3]);
            }
            tiles->y[n][f] = ember_filtered_dsp(sum, by, tiles->offset);
        }
    }
}

static inline uint32_t *ember_widen_three(uint32_t *to, const int8_t *a,
                                          const int8_t *b, const int8_t *c,
                                          int32_t fours, uint32_t offset) {
    for (; fours > 0; fours--) {
        const uint32_t words[3] = {ember_ldr_next(&a), ember_ldr_next(&b),
                                   ember_ldr_next(&c)};
        for (int32_t n = 0; n < 3; n++) {
            to[n] = ember_sxtab16(offset, words[n]);
            to[n + 3] = ember_sxtab16_odd(offset, words[n]);
        }
        to += 6;
    }
    return to;
}

static inline void ember_copy_runs_dsp(int8_t *to, const int8_t *from, int32_t length,
                                       int32_t pitch, int32_t rows) {
    for (; rows > 0; rows--) {
        memcpy(to, from, (size_t)length);
        from += pitch;
        to += length;
    }
}

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

static inline void ember_lines_1_dsp(const ember_lines_run_dsp_t *run) {
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

static inline void ember_lines_2_dsp(const ember_lines_run_dsp_t *run) {
    const uint32_t *x = run->x, *weights = run->weights;
    const ember_filter_dsp_t *by = run->by;

    for (int8_t *first = run->y; first != run->end; first++) {
        for (int32_t i = 0; i <= run->rounds >> 8; i++) {
            first[i * run->step] = ember_lines_first_dsp(x, weights, by, run->offset);
            x += 3;
        }
        x += run->skip / 4;
        weights += EMBER_LINES_WEIGHTS;
        by++;
    }
}

static inline void ember_tiles_4x1(int32_t *sums, int32_t fours, const int8_t *w,
                                   int32_t pitch, const uint32_t *x, int32_t blocks) {
    for (int32_t row = 0; row < 4 * fours; row++) {
        const int8_t *from = w;
        int32_t sum = 0;
        for (int32_t i = 0; i < blocks; i++) {
            const uint32_t *words = x + 2 * i;
            sum = ember_add_four(sum, ember_ldr_next(&from), words[0], words[1]);
        }
        *sums++ = sum;
        w += pitch;
    }
}

#endif // EMBER_MODELS_ARM_DSP_H
