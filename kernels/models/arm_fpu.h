// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_fpu.h in C.
#ifndef EMBER_MODELS_ARM_FPU_H
#define EMBER_MODELS_ARM_FPU_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct ember_fpu_tile {
    const float *a[4];
    const float *b;
    int32_t step;
    int32_t inner;
    float *sums;
} ember_fpu_tile_t;

typedef struct ember_fpu_row {
    const float *x;
    int32_t step;
    const float *w;
    int32_t lines;
    float bias;
    float *y;
    int32_t apart;
    int32_t fours;
} ember_fpu_row_t;

static inline void ember_fpu_rows(const ember_fpu_tile_t *tile, int height, int width) {
    for (int h = 0; h < height; h++) {
        for (int p = 0; p < width; p++) {
            const float *b = tile->b;
            float sum = 0.0f;
            for (int32_t k = 0; k < tile->inner; k++) {
                sum += tile->a[h][k] * b[p];
                b += k + 1 < tile->inner ? tile->step / (int32_t)sizeof(float) : 0;
            }
            tile->sums[width * h + p] = sum;
        }
    }
}

static inline void ember_fpu_rows_4x4(const ember_fpu_tile_t *tile) {
    ember_fpu_rows(tile, 4, 4);
}

static inline void ember_fpu_rows_1x8(const ember_fpu_tile_t *tile) {
    ember_fpu_rows(tile, 1, 8);
}

static inline void ember_fpu_rows_1x12(const ember_fpu_tile_t *tile) {
    ember_fpu_rows(tile, 1, 12);
}

static inline void ember_fpu_row_3(const ember_fpu_row_t *row) {
    float *y = row->y;
    for (int32_t i = 0; i < 4 * row->fours; i++) {
        float sum = 0.0f;
        for (int32_t l = 0; l < row->lines; l++) {
            const float *x = row->x + l * (row->step / (int32_t)sizeof(float)) + i;
            const float *w = row->w + (ptrdiff_t)3 * l;
            for (int t = 0; t < 3; t++) {
                sum += w[t] * x[t];
            }
        }
        y[(ptrdiff_t)i * (row->apart / (int32_t)sizeof(float))] = sum + row->bias;
    }
}

static inline void ember_fpu_dots_4(const ember_fpu_tile_t *tile) {
    const int32_t whole = tile->inner & ~3;

    for (int h = 0; h < 4; h++) {
        float *sums = tile->sums + (ptrdiff_t)4 * h;
        for (int l = 0; l < 4; l++) {
            sums[l] = 0.0f;
        }
        for (int32_t k = 0; k < tile->inner; k++) {
            sums[k < whole ? k % 4 : 0] += tile->a[h][k] * tile->b[k];
        }
    }
}

static inline void ember_fpu_copy(float *to, const float *from, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

static inline void ember_fpu_affine_4x4(float *c, int32_t step, const float *sums,
                                        float scale, const float *added) {
    for (int32_t row = 0; row < 4; row++) {
        for (int32_t i = 0; i < 4; i++) {
            const float product = scale * sums[4 * row + i];
            c[i] = product + added[row];
        }
        c += step / (int32_t)sizeof(float);
    }
}

static inline void ember_fpu_scale_4x4(float *c, int32_t step, const float *sums,
                                       float scale) {
    for (int32_t row = 0; row < 4; row++) {
        for (int32_t i = 0; i < 4; i++) {
            c[i] = scale * sums[4 * row + i];
        }
        c += step / (int32_t)sizeof(float);
    }
}

static inline void ember_fpu_affine(float *y, const float *x, int32_t count,
                                    float scale, float shift) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = x[i] * scale + shift;
    }
}

static inline void ember_fpu_add(float *y, const float *a, const float *b,
                                 int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = a[i] + b[i];
    }
}

static inline void ember_fpu_sub(float *y, const float *a, const float *b,
                                 int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = a[i] - b[i];
    }
}

static inline void ember_fpu_mul(float *y, const float *a, const float *b,
                                 int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = a[i] * b[i];
    }
}

static inline void ember_fpu_relu(float *y, const float *x, int32_t count,
                                  int32_t until) {
    for (int32_t i = 0; i < count; i++) {
        int32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits = bits <= until ? 0 : bits;
        memcpy(&y[i], &bits, sizeof bits);
    }
}

#endif // EMBER_MODELS_ARM_FPU_H
