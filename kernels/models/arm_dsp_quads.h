// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_quads.h in C.
#ifndef EMBER_MODELS_ARM_DSP_QUADS_H
#define EMBER_MODELS_ARM_DSP_QUADS_H

#include <arm_dsp.h>

static inline uint32_t *ember_widen_two(uint32_t *to, const int8_t *a, const int8_t *b,
                                        int32_t fours, uint32_t offset,
                                        int32_t sums[2]) {
    for (; fours > 0; fours--) {
        const uint32_t words[2] = {ember_ldr_next(&a), ember_ldr_next(&b)};
        for (int32_t n = 0; n < 2; n++) {
            to[n] = ember_sxtab16(offset, words[n]);
            to[n + 2] = ember_sxtab16_odd(offset, words[n]);
            sums[n] = ember_smlad(to[n], 0x00800080, sums[n]);
            sums[n] = ember_smlad(to[n + 2], 0x00800080, sums[n]);
        }
        to += 4;
    }
    return to;
}

typedef struct ember_quad_dsp {
    int32_t bias[4];
    struct {
        int32_t multiplier, shift;
    } by[4];
} ember_quad_dsp_t;

typedef struct ember_quads_dsp {
    const int8_t *w;
    const uint32_t *x;
    int32_t blocks;
    const ember_quad_dsp_t *by;
    int32_t quads;
    int8_t *y[2];
    int32_t offset;
    int32_t sums[2];
} ember_quads_dsp_t;

// The outputs of a pair of filters at column `n`.
static inline void ember_quads_pair_dsp(const ember_quads_dsp_t *tiles,
                                        const ember_quad_dsp_t *by, const int8_t *w,
                                        int32_t pair, int32_t n, int8_t *y) {
    const uint32_t *x = tiles->x + n;
    uint32_t both = (uint32_t)by->bias[2 * pair] - (uint32_t)tiles->sums[n];
    int32_t second = by->bias[2 * pair + 1];

    for (int32_t half = 0; half < 2 * tiles->blocks; half++) {
        const int8_t *at = w + 8 * half;
        const uint32_t word = ember_ldr_next(&at);
        both = (uint32_t)ember_smlad(word, x[2 * half], (int32_t)both);
        second = ember_smlad(ember_sxtb16_odd(word), x[2 * half], second);
    }
    const int32_t sums[2] = {(int32_t)(both - ((uint32_t)second << 8)), second};
    for (int32_t i = 0; i < 2; i++) {
        const ember_filter_dsp_t filter = {0, by->by[2 * pair + i].multiplier,
                                           by->by[2 * pair + i].shift};
        y[i] = ember_filtered_dsp(sums[i], &filter, tiles->offset);
    }
}

static inline void ember_quads_dsp(const ember_quads_dsp_t *tiles) {
    for (int32_t quad = 0; quad < tiles->quads; quad++) {
        const int8_t *w = tiles->w + quad * tiles->blocks * 16;
        for (int32_t n = 0; n < 2; n++) {
            for (int32_t pair = 0; pair < 2; pair++) {
                ember_quads_pair_dsp(tiles, tiles->by + quad, w + 4 * pair, pair, n,
                                     tiles->y[n] + 4 * quad + 2 * pair);
            }
        }
    }
}

#endif // EMBER_MODELS_ARM_DSP_QUADS_H
