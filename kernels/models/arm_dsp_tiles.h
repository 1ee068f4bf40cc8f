// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_tiles.h in C.
#ifndef EMBER_MODELS_ARM_DSP_TILES_H
#define EMBER_MODELS_ARM_DSP_TILES_H

#include <arm_dsp.h>

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

typedef struct ember_wide_tiles_dsp {
    const uint32_t *w;
    const uint32_t *x;
    int32_t blocks;
    int32_t pairs;
    int8_t *y[3];
    int32_t offset;
} ember_wide_tiles_dsp_t;

enum { EMBER_WIDE_RECORD_DSP = 6, EMBER_WIDE_BLOCK_DSP = 4 };

static inline void ember_wide_tiles_dsp(const ember_wide_tiles_dsp_t *tiles) {
    const int32_t each = EMBER_WIDE_RECORD_DSP + EMBER_WIDE_BLOCK_DSP * tiles->blocks;

    for (int32_t f = 0; f < 2 * tiles->pairs; f++) {
        const uint32_t *record = tiles->w + f / 2 * each;
        const uint32_t *scale = record + each - 4 + f % 2 * 2;
        const ember_filter_dsp_t by = {(int32_t)record[f % 2], (int32_t)scale[0],
                                       (int32_t)scale[1]};
        for (int32_t n = 0; n < 3; n++) {
            int32_t sum = by.bias;
            for (int32_t i = 0; i < 2 * tiles->blocks; i++) {
                sum = ember_smlad(record[2 + 2 * i + f % 2], tiles->x[3 * i + n], sum);
            }
            tiles->y[n][f] = ember_filtered_dsp(sum, &by, tiles->offset);
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
