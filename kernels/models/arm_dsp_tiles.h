// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_tiles.h in C.
#ifndef EMBER_MODELS_ARM_DSP_TILES_H
#define EMBER_MODELS_ARM_DSP_TILES_H

#include <arm_dsp_real.h>

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

// The sum of filter `f` and column `n`.
static inline int32_t ember_tiles_sum_dsp(const ember_tiles_dsp_t *tiles, int32_t f,
                                          int32_t n) {
    const int8_t *from = tiles->w + f * tiles->pitch;
    int32_t sum = tiles->by[f].bias;

    for (int32_t i = 0; i < tiles->blocks; i++) {
        const uint32_t *words = tiles->x + 6 * i + n;
        sum = ember_add_four(sum, ember_ldr_next(&from), words[0], words[3]);
    }
    return sum;
}

static inline void ember_tiles_dsp(const ember_tiles_dsp_t *tiles) {
    for (int32_t f = 0; f < 2 * tiles->pairs; f++) {
        for (int32_t n = 0; n < 3; n++) {
            const int32_t sum = ember_tiles_sum_dsp(tiles, f, n);
            tiles->y[n][f] = ember_filtered_dsp(sum, tiles->by + f, tiles->offset);
        }
    }
}

static inline void ember_tiles_real_dsp(const ember_tiles_dsp_t *tiles,
                                        const ember_real_dsp_t *by) {
    const ember_real_dsp_t real = {by->scale, by->inverse, tiles->offset};
    for (int32_t f = 0; f < 2 * tiles->pairs; f++) {
        for (int32_t n = 0; n < 3; n++) {
            tiles->y[n][f] =
                ember_real_one_dsp(ember_tiles_sum_dsp(tiles, f, n), &real);
        }
    }
}

typedef struct ember_tile_sums_dsp {
    const int8_t *w;
    const uint32_t *x;
    int32_t pitch;
    int32_t blocks;
    const int32_t *bias;
    int32_t pairs;
    int32_t *sums[3];
} ember_tile_sums_dsp_t;

static inline void ember_tile_sums_dsp(const ember_tile_sums_dsp_t *tiles) {
    for (int32_t f = 0; f < 2 * tiles->pairs; f++) {
        for (int32_t n = 0; n < 3; n++) {
            const int8_t *from = tiles->w + f * tiles->pitch;
            int32_t sum = tiles->bias[f];
            for (int32_t i = 0; i < tiles->blocks; i++) {
                const uint32_t *words = tiles->x + 6 * i + n;
                sum = ember_add_four(sum, ember_ldr_next(&from), words[0], words[3]);
            }
            tiles->sums[n][f] = sum;
        }
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

#endif // EMBER_MODELS_ARM_DSP_TILES_H
