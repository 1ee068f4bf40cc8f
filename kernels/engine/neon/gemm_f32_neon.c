// SPDX-License-Identifier: Apache-2.0
// float32 matrix product with NEON. Contract and tolerance: gemm_f32.h.
//
// _rows: blocks of 4 x 16 sums, vectors of b times lanes of a; a single row takes 32
// columns at a time. _columns: 4 x 4 dot products, or 8 of one row or column: enough
// sums that none waits for the one before. The remaining columns are computed together
// with some of the previous ones again. Matrices too narrow for vectors are left to the
// portable forms.
#include <arm_neon.h>
#include <stddef.h>

#include "kernels/engine/gemm_f32.h"

#define INLINE   static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

// A loop with constant bounds, which is unrolled.
#define EACH(INDEX, COUNT) for (int INDEX = 0; INDEX < (COUNT); INDEX++)

enum { LANES = 4, MOST_HEIGHT = 8, MOST_VECTORS = 8, MOST_SUMS = 16 };

// Four elements of the bias, `step` apart.
INLINE float32x4_t load_bias(const float *bias, ptrdiff_t step) {
    return step == 1
               ? vld1q_f32(bias)
               : (float32x4_t){bias[0], bias[step], bias[2 * step], bias[3 * step]};
}

// Finishes `rows` rows of `vectors` vectors of sums from element (i, j) on.
NOINLINE void finish(const ember_gemm_f32_t *gemm, int32_t i, int32_t j,
                     const float32x4_t *sums, int32_t rows, int32_t vectors) {
    const ptrdiff_t step = gemm->bias_column;

    for (int32_t row = i; row < i + rows; row++) {
        float *c = gemm->c + (ptrdiff_t)row * gemm->c_stride + j;
        const float *bias = gemm->bias;
        if (bias != NULL) {
            bias += (ptrdiff_t)row * gemm->bias_row + j * step;
        }
        for (int32_t left = vectors; left > 0; left--) {
            float32x4_t x = vmulq_n_f32(*sums++, gemm->alpha);
            if (bias != NULL) {
                x = vaddq_f32(x, vmulq_n_f32(load_bias(bias, step), gemm->beta));
                bias += LANES * step;
            }
            vst1q_f32(c, x);
            c += LANES;
        }
    }
}

// Finishes one sum for each of `rows` rows.
NOINLINE void finish_column(const ember_gemm_f32_t *gemm, int32_t i, int32_t j,
                            const float *sums, int32_t rows) {
    for (int32_t row = i; row < i + rows; row++) {
        float x = *sums++ * gemm->alpha;
        if (gemm->bias != NULL) {
            const ptrdiff_t at =
                (ptrdiff_t)row * gemm->bias_row + (ptrdiff_t)j * gemm->bias_column;
            x += gemm->bias[at] * gemm->beta;
        }
        gemm->c[(ptrdiff_t)row * gemm->c_stride + j] = x;
    }
}

// --- rows of b are dense -------------------------------------------------------------

INLINE float32x4_t add_lane(float32x4_t sum, float32x4_t b, float32x4_t a, int lane) {
    switch (lane) {
    case 0:
        return vfmaq_laneq_f32(sum, b, a, 0);
    case 1:
        return vfmaq_laneq_f32(sum, b, a, 1);
    case 2:
        return vfmaq_laneq_f32(sum, b, a, 2);
    default:
        return vfmaq_laneq_f32(sum, b, a, 3);
    }
}

// c[i .. i + height, j .. j + LANES * vectors]. The last three are constants. Each sum
// is split into `chains` parts: enough that none waits for the product before it.
INLINE void block_rows(const ember_gemm_f32_t *gemm, int32_t i, int32_t j, int height,
                       int vectors, int chains) {
    const ptrdiff_t a_stride = gemm->a_stride;
    const float *a = gemm->a + i * a_stride;
    const float *b = gemm->b + j;
    float32x4_t sums[LANES][MOST_HEIGHT][MOST_VECTORS], x[MOST_HEIGHT];
    int32_t k = gemm->inner;

    EACH(c, chains) EACH(h, height) EACH(v, vectors) {
        sums[c][h][v] = vdupq_n_f32(0.0f);
    }
    for (; k >= LANES; k -= LANES) {
        EACH(h, height) {
            x[h] = vld1q_f32(a + h * a_stride);
        }
        EACH(lane, LANES) {
            EACH(v, vectors) {
                const float32x4_t y = vld1q_f32(b + (ptrdiff_t)LANES * v);
                EACH(h, height) {
                    float32x4_t *sum = &sums[lane % chains][h][v];
                    *sum = add_lane(*sum, y, x[h], lane);
                }
            }
            b += gemm->b_stride;
        }
        a += LANES;
    }
    for (; k > 0; k--) {
        EACH(h, height) {
            x[h] = vdupq_n_f32(a[h * a_stride]);
        }
        EACH(v, vectors) {
            const float32x4_t y = vld1q_f32(b + (ptrdiff_t)LANES * v);
            EACH(h, height) {
                sums[0][h][v] = vfmaq_f32(sums[0][h][v], y, x[h]);
            }
        }
        b += gemm->b_stride;
        a++;
    }
    // A copy, so that the sums themselves stay in registers.
    float32x4_t made[MOST_SUMS];
    EACH(h, height) EACH(v, vectors) {
        for (int c = 1; c < chains; c++) {
            sums[0][h][v] = vaddq_f32(sums[0][h][v], sums[c][h][v]);
        }
        made[h * vectors + v] = sums[0][h][v];
    }
    finish(gemm, i, j, made, height, vectors);
}

// Four rows.
static void four_rows(const ember_gemm_f32_t *gemm, int32_t i) {
    const int32_t columns = gemm->columns;
    int32_t j = 0;

    for (; j + 4 * LANES <= columns; j += 4 * LANES) {
        block_rows(gemm, i, j, 4, 4, 1);
    }
    if (j + 2 * LANES <= columns) {
        block_rows(gemm, i, j, 4, 2, 1);
        j += 2 * LANES;
    }
    for (; j < columns; j += LANES) {
        block_rows(gemm, i, j + LANES <= columns ? j : columns - LANES, 4, 1, 2);
    }
}

static void one_row(const ember_gemm_f32_t *gemm, int32_t i) {
    const int32_t columns = gemm->columns;
    int32_t j = 0;

    for (; j + 8 * LANES <= columns; j += 8 * LANES) {
        block_rows(gemm, i, j, 1, 8, 1);
    }
    for (; j + 2 * LANES <= columns; j += 2 * LANES) {
        block_rows(gemm, i, j, 1, 2, 4);
    }
    for (; j < columns; j += LANES) {
        block_rows(gemm, i, j + LANES <= columns ? j : columns - LANES, 1, 1, 4);
    }
}

void ember_gemm_f32_rows_neon(const ember_gemm_f32_t *gemm) {
    int32_t i = 0;

    if (gemm->columns == 1 && gemm->b_stride == 1) { // as dense as a column
        ember_gemm_f32_columns_neon(gemm);
        return;
    }
    if (gemm->columns < LANES) {
        ember_gemm_f32_rows(gemm);
        return;
    }
    for (; i + 4 <= gemm->rows; i += 4) {
        four_rows(gemm, i);
    }
    for (; i < gemm->rows; i++) {
        one_row(gemm, i);
    }
}

// --- columns of b are dense ----------------------------------------------------------

// The sums of four vectors.
INLINE float32x4_t totals(const float32x4_t *sums) {
    return vpaddq_f32(vpaddq_f32(sums[0], sums[1]), vpaddq_f32(sums[2], sums[3]));
}

// Adds the products of four elements of each row and column; only the last `left`
// count.
INLINE void add_products(float32x4_t *sums, const float *a, ptrdiff_t a_stride,
                         const float *b, ptrdiff_t b_stride, int height, int width,
                         int32_t left) {
    const float32x4_t zero = vdupq_n_f32(0.0f);
    const float32x4_t lanes = {0, 1, 2, 3};
    const uint32x4_t kept = vcgeq_f32(lanes, vdupq_n_f32((float)(LANES - left)));
    float32x4_t x[MOST_HEIGHT];

    EACH(h, height) {
        x[h] = vld1q_f32(a + h * a_stride);
        x[h] = left < LANES ? vbslq_f32(kept, x[h], zero) : x[h];
    }
    EACH(w, width) {
        float32x4_t y = vld1q_f32(b + w * b_stride);
        y = left < LANES ? vbslq_f32(kept, y, zero) : y;
        EACH(h, height) {
            sums[h * width + w] = vfmaq_f32(sums[h * width + w], x[h], y);
        }
    }
}

// c[i .. i + height, j .. j + width], the last two are constants. inner >= LANES.
INLINE void block_columns(const ember_gemm_f32_t *gemm, int32_t i, int32_t j,
                          int height, int width) {
    const ptrdiff_t a_stride = gemm->a_stride, b_stride = gemm->b_stride;
    const float *a = gemm->a + i * a_stride;
    const float *b = gemm->b + j * b_stride;
    const int32_t left = gemm->inner % LANES;
    float32x4_t sums[MOST_SUMS];

    EACH(s, height * width) {
        sums[s] = vdupq_n_f32(0.0f);
    }
#pragma GCC unroll 2
    for (int32_t k = gemm->inner; k >= LANES; k -= LANES) {
        add_products(sums, a, a_stride, b, b_stride, height, width, LANES);
        a += LANES;
        b += LANES;
    }
    if (left > 0) { // the last four again, without those already added
        a -= LANES - left;
        b -= LANES - left;
        add_products(sums, a, a_stride, b, b_stride, height, width, left);
    }
    if (width % LANES == 0) {
        float32x4_t made[MOST_SUMS / LANES];
        EACH(s, height * width / LANES) {
            made[s] = totals(sums + (ptrdiff_t)LANES * s);
        }
        finish(gemm, i, j, made, height, width / LANES);
    } else {
        float made[MOST_HEIGHT];
        EACH(h, height) {
            made[h] = vaddvq_f32(sums[h]);
        }
        finish_column(gemm, i, j, made, height);
    }
}

NOINLINE void block_1x4(const ember_gemm_f32_t *gemm, int32_t i, int32_t j) {
    block_columns(gemm, i, j, 1, 4);
}

NOINLINE void block_1x1(const ember_gemm_f32_t *gemm, int32_t i, int32_t j) {
    block_columns(gemm, i, j, 1, 1);
}

static void row_of_columns(const ember_gemm_f32_t *gemm, int32_t i) {
    const int32_t columns = gemm->columns;
    int32_t j = 0;

    for (; j + 8 <= columns; j += 8) {
        block_columns(gemm, i, j, 1, 8);
    }
    for (; j < columns && columns >= 4; j += 4) {
        block_1x4(gemm, i, j + 4 <= columns ? j : columns - 4);
    }
    for (; j < columns; j++) {
        block_1x1(gemm, i, j);
    }
}

static void few_columns(const ember_gemm_f32_t *gemm) {
    for (int32_t j = 0; j < gemm->columns; j++) {
        int32_t i = 0;
        for (; i + 8 <= gemm->rows; i += 8) {
            block_columns(gemm, i, j, 8, 1);
        }
        for (; i < gemm->rows; i++) {
            block_1x1(gemm, i, j);
        }
    }
}

void ember_gemm_f32_columns_neon(const ember_gemm_f32_t *gemm) {
    const int32_t columns = gemm->columns;
    int32_t i = 0;

    if (gemm->inner < LANES) {
        ember_gemm_f32_columns(gemm);
        return;
    }
    if (columns < 4) {
        few_columns(gemm);
        return;
    }
    for (; i + 4 <= gemm->rows; i += 4) {
        for (int32_t j = 0; j < columns; j += 4) {
            block_columns(gemm, i, j + 4 <= columns ? j : columns - 4, 4, 4);
        }
    }
    for (; i < gemm->rows; i++) {
        row_of_columns(gemm, i);
    }
}
