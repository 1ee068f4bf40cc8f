// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_quads.h in C.
#ifndef EMBER_MODELS_ARM_DSP_QUADS_H
#define EMBER_MODELS_ARM_DSP_QUADS_H

#include <arm_dsp_real.h>

typedef struct ember_quad_dsp {
    int32_t bias[4];
    struct {
        int32_t multiplier, power;
    } by[4];
} ember_quad_dsp_t;

typedef struct ember_quads_dsp {
    const int8_t *w;
    uint32_t *words;
    int32_t blocks;
    const ember_quad_dsp_t *by;
    int32_t quads;
    int8_t *y[2];
    int32_t offset;
    const int8_t *x[2];
    uint32_t x_offset;
    int32_t fours;
    int32_t rows;
    int32_t skip[2];
    int32_t pairs;
    int32_t next;
    int32_t y_skip;
} ember_quads_dsp_t;

// Column `n` becomes words; 128 times its sum.
static inline int32_t ember_quads_widen_dsp(const ember_quads_dsp_t *tiles, int32_t n) {
    const int8_t *x = tiles->x[n];
    uint32_t *to = tiles->words + n;
    int32_t sum = 0;

    for (int32_t row = 0; row < tiles->rows; row++) {
        for (int32_t four = 0; four < tiles->fours; four++) {
            const uint32_t word = ember_ldr_next(&x);
            to[0] = ember_sxtab16(tiles->x_offset, word);
            to[2] = ember_sxtab16_odd(tiles->x_offset, word);
            sum = ember_smlad(to[0], 0x00800080, sum);
            sum = ember_smlad(to[2], 0x00800080, sum);
            to += 4;
        }
        x += tiles->skip[n];
    }
    return sum;
}

// The sums of a pair of filters at column `n`, whose sum is `of_x`.
static inline void ember_quads_pair_dsp(const ember_quads_dsp_t *tiles,
                                        const ember_quad_dsp_t *by, const int8_t *w,
                                        int32_t pair, int32_t n, int32_t of_x,
                                        int32_t sums[2]) {
    const uint32_t *x = tiles->words + n;
    uint32_t both = (uint32_t)by->bias[2 * pair] - (uint32_t)of_x;
    int32_t second = by->bias[2 * pair + 1];

    for (int32_t half = 0; half < 2 * tiles->blocks; half++) {
        const int8_t *at = w + 8 * half;
        const uint32_t word = ember_ldr_next(&at);
        both = (uint32_t)ember_smlad(word, x[2 * half], (int32_t)both);
        second = ember_smlad(ember_sxtb16_odd(word), x[2 * half], second);
    }
    sums[0] = (int32_t)(both - ((uint32_t)second << 8));
    sums[1] = second;
}

// `real` scales all sums, or NULL.
static inline void ember_quads_column_dsp(ember_quads_dsp_t *tiles, int32_t n,
                                          int32_t of_x, const ember_real_dsp_t *real) {
    for (int32_t quad = 0; quad < tiles->quads; quad++) {
        const int8_t *w = tiles->w + quad * tiles->blocks * 16;
        const ember_quad_dsp_t *by = tiles->by + quad;
        int8_t *y = tiles->y[n] + 4 * quad;
        int32_t sums[4];
        for (int32_t pair = 0; pair < 2; pair++) {
            ember_quads_pair_dsp(tiles, by, w + 4 * pair, pair, n, of_x,
                                 sums + 2 * pair);
        }
        for (int32_t i = 0; i < 4; i++) {
            y[i] = real != NULL ? ember_real_one_dsp(sums[i], real)
                                : ember_powered_dsp(sums[i], by->by[i].multiplier,
                                                    by->by[i].power, tiles->offset);
        }
    }
    tiles->x[n] += tiles->next;
    tiles->y[n] += 4 * tiles->quads + tiles->y_skip;
}

static inline void ember_quads_run_dsp(ember_quads_dsp_t *tiles,
                                       const ember_real_dsp_t *real) {
    for (; tiles->pairs > 0; tiles->pairs--) {
        const int32_t sums[2] = {ember_quads_widen_dsp(tiles, 0),
                                 ember_quads_widen_dsp(tiles, 1)};
        ember_quads_column_dsp(tiles, 0, sums[0], real);
        ember_quads_column_dsp(tiles, 1, sums[1], real);
    }
}

static inline void ember_quads_dsp(ember_quads_dsp_t *tiles) {
    ember_quads_run_dsp(tiles, NULL);
}

static inline void ember_quads_real_dsp(ember_quads_dsp_t *tiles,
                                        const ember_real_dsp_t *by) {
    const ember_real_dsp_t real = {by->scale, by->inverse, tiles->offset};
    ember_quads_run_dsp(tiles, &real);
}

#endif // EMBER_MODELS_ARM_DSP_QUADS_H
