// SPDX-License-Identifier: Apache-2.0
// float32 matrix product with Helium. Contract and tolerance: gemm_f32.h.
//
// _rows: blocks of 3 x 8 sums, a scalar of a times a vector of b. The last columns are
// computed together with some of the previous ones again. _columns: four dot products
// at a time.
#include "kernels/engine/gemm_f32.h"

#include <arm_mve.h>
#include <arm_mve_floats.h>
#include <stdbool.h>
#include <stddef.h>

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 4 };

// The same pointer with its relation to others hidden: LLVM would otherwise keep one of
// them and add the distances in every step of a loop.
INLINE const float *separate(const float *pointer) {
    __asm__("" : "+r"(pointer));
    return pointer;
}

// Eight columns from j on, or fewer if there are no more.
typedef struct {
    int32_t j;
    bool whole;        // all eight, a constant
    mve_pred16_t low;  // of the first four
    mve_pred16_t high; // of the rest
} strip_t;

// Finishes `rows` rows of sums in a strip, from row i on, if columns have biases of
// their own.
static __attribute__((noinline)) void finish_columns(const ember_gemm_f32_t *gemm,
                                                     int32_t i, const strip_t *strip,
                                                     const float32x4_t (*sums)[2],
                                                     int32_t rows) {
    const uint32_t step = (uint32_t)gemm->bias_column;
    const uint32x4_t low = vmulq_n_u32(vidupq_n_u32(0, 1), step);
    const uint32x4_t high = vaddq_n_u32(low, LANES * step);
    const float *bias = gemm->bias + (ptrdiff_t)i * gemm->bias_row +
                        (ptrdiff_t)strip->j * gemm->bias_column;
    float *c = gemm->c + (ptrdiff_t)i * gemm->c_stride + strip->j;

    for (; rows > 0; rows--) {
        const float32x4_t x = vmulq_n_f32((*sums)[0], gemm->alpha);
        const float32x4_t y = vmulq_n_f32((*sums)[1], gemm->alpha);
        const float32x4_t x_bias =
            vldrwq_gather_shifted_offset_z_f32(bias, low, strip->low);
        const float32x4_t y_bias =
            vldrwq_gather_shifted_offset_z_f32(bias, high, strip->high);
        vstrwq_p_f32(c, vaddq_f32(x, vmulq_n_f32(x_bias, gemm->beta)), strip->low);
        vstrwq_p_f32(c + LANES, vaddq_f32(y, vmulq_n_f32(y_bias, gemm->beta)),
                     strip->high);
        bias += gemm->bias_row;
        sums++;
        c += gemm->c_stride;
    }
}

// The same if a row has one bias, or none: adding -0 changes no number.
static __attribute__((noinline)) void finish(const ember_gemm_f32_t *gemm, int32_t i,
                                             const strip_t *strip,
                                             const float32x4_t (*sums)[2],
                                             int32_t rows) {
    static const float none = -0.0f;
    const bool biased = gemm->bias != NULL;
    const ptrdiff_t step = biased ? gemm->bias_row : 0;
    const float *bias = biased ? gemm->bias + i * step : &none;
    const float alpha = gemm->alpha, beta = biased ? gemm->beta : 1.0f;
    const ptrdiff_t c_stride = gemm->c_stride;
    const mve_pred16_t low = strip->low, high = strip->high;
    float *c = gemm->c + i * c_stride + strip->j;

    if (biased && gemm->bias_column != 0) {
        finish_columns(gemm, i, strip, sums, rows);
        return;
    }
    do {
        const float added = beta * *bias;
        const float32x4_t x = vaddq_n_f32(vmulq_n_f32((*sums)[0], alpha), added);
        const float32x4_t y = vaddq_n_f32(vmulq_n_f32((*sums)[1], alpha), added);
        vstrwq_p_f32(c, x, low);
        vstrwq_p_f32(c + LANES, y, high);
        bias += step;
        sums++;
        c += c_stride;
        rows--;
    } while (rows != 0);
}

INLINE float32x4_t load(const float *at, bool whole, mve_pred16_t lanes) {
    return whole ? vldrwq_f32(at) : vldrwq_z_f32(at, lanes);
}

// c[i .. i + 3, strip], in a whole strip.
static void block_whole(const ember_gemm_f32_t *gemm, int32_t i, strip_t strip) {
    const float *a = gemm->a + (ptrdiff_t)i * gemm->a_stride;
    float32x4_t sums[3][2];
    const ember_mve_block_t block = {
        .a = {a, a + gemm->a_stride, a + 2 * (ptrdiff_t)gemm->a_stride},
        .b = gemm->b + strip.j,
        .step = gemm->b_stride * (int32_t)sizeof(float),
        .inner = gemm->inner,
        .sums = (float *)sums,
    };

    ember_mve_multiply_block(&block);
    finish(gemm, i, &strip, (const float32x4_t(*)[2])sums, 3);
}

// The same in a strip of less than eight columns.
static void block_part(const ember_gemm_f32_t *gemm, int32_t i, strip_t strip) {
    const float *a0 = gemm->a + (ptrdiff_t)i * gemm->a_stride;
    const float *a1 = separate(a0 + gemm->a_stride);
    const float *a2 = separate(a1 + gemm->a_stride);
    const float *b = gemm->b + strip.j;
    float32x4_t s0 = vdupq_n_f32(0.0f), t0 = s0;
    float32x4_t s1 = s0, t1 = s0, s2 = s0, t2 = s0;

#pragma GCC unroll 2
    for (int32_t k = gemm->inner; k > 0; k--) {
        const float32x4_t x = vldrwq_z_f32(b, strip.low);
        const float32x4_t y = vldrwq_z_f32(b + LANES, strip.high);
        s0 = vfmaq_n_f32(s0, x, *a0);
        t0 = vfmaq_n_f32(t0, y, *a0++);
        s1 = vfmaq_n_f32(s1, x, *a1);
        t1 = vfmaq_n_f32(t1, y, *a1++);
        s2 = vfmaq_n_f32(s2, x, *a2);
        t2 = vfmaq_n_f32(t2, y, *a2++);
        b += gemm->b_stride;
    }
    const float32x4_t sums[3][2] = {{s0, t0}, {s1, t1}, {s2, t2}};
    finish(gemm, i, &strip, sums, 3);
}

// c[i, strip]
INLINE void block_1x8(const ember_gemm_f32_t *gemm, int32_t i, strip_t strip) {
    const float *a = gemm->a + (ptrdiff_t)i * gemm->a_stride;
    const float *b = gemm->b + strip.j;
    float32x4_t low = vdupq_n_f32(0.0f), high = low;

#pragma GCC unroll 2
    for (int32_t k = gemm->inner; k > 0; k--) {
        low = vfmaq_n_f32(low, load(b, strip.whole, strip.low), *a);
        high = vfmaq_n_f32(high, load(b + LANES, strip.whole, strip.high), *a++);
        b += gemm->b_stride;
    }
    const float32x4_t sums[1][2] = {{low, high}};
    finish(gemm, i, &strip, sums, 1);
}

// All rows of a strip.
INLINE void run_strip(const ember_gemm_f32_t *gemm, strip_t strip) {
    int32_t i = 0;

    for (; i + 3 <= gemm->rows; i += 3) {
        (strip.whole ? block_whole : block_part)(gemm, i, strip);
    }
    for (; i < gemm->rows; i++) {
        block_1x8(gemm, i, strip);
    }
}

void ember_gemm_f32_rows_mve(const ember_gemm_f32_t *gemm) {
    const int32_t columns = gemm->columns;

    if (columns < 2 * LANES) {
        const int32_t more = columns > LANES ? columns - LANES : 0;
        run_strip(gemm, (strip_t){0, false, vctp32q((uint32_t)columns),
                                  vctp32q((uint32_t)more)});
        return;
    }
    for (int32_t j = 0; j < columns; j += 2 * LANES) {
        const int32_t last = columns - 2 * LANES;
        run_strip(gemm, (strip_t){j < last ? j : last, true, 0xffff, 0xffff});
    }
}

// The sum of all lanes.
static float total(float32x4_t sums) {
    return (vgetq_lane_f32(sums, 0) + vgetq_lane_f32(sums, 1)) +
           (vgetq_lane_f32(sums, 2) + vgetq_lane_f32(sums, 3));
}

// c[i, j .. j + width]
INLINE void dots(const ember_gemm_f32_t *gemm, int32_t i, int32_t j, int width) {
    const float *a = gemm->a + (ptrdiff_t)i * gemm->a_stride;
    const float *b0 = gemm->b + (ptrdiff_t)j * gemm->b_stride;
    const ptrdiff_t next = width > 1 ? gemm->b_stride : 0;
    const float *b1 = b0 + next;
    const float *b2 = b1 + next;
    const float *b3 = b2 + next;
    float32x4_t s0 = vdupq_n_f32(0.0f);
    float32x4_t s1 = s0, s2 = s0, s3 = s0;

    for (int32_t k = gemm->inner; k > 0; k -= LANES) {
        const mve_pred16_t lanes = vctp32q((uint32_t)k);
        const float32x4_t x = vldrwq_z_f32(a, lanes);
        s0 = vfmaq_f32(s0, x, vldrwq_z_f32(b0, lanes));
        if (width > 1) {
            s1 = vfmaq_f32(s1, x, vldrwq_z_f32(b1, lanes));
            s2 = vfmaq_f32(s2, x, vldrwq_z_f32(b2, lanes));
            s3 = vfmaq_f32(s3, x, vldrwq_z_f32(b3, lanes));
        }
        a += LANES, b0 += LANES, b1 += LANES, b2 += LANES, b3 += LANES;
    }
    const float32x4_t sums =
        width > 1 ? (float32x4_t){total(s0), total(s1), total(s2), total(s3)}
                  : vdupq_n_f32(total(s0));
    const float32x4_t pair[2] = {sums, sums};
    const strip_t strip = {j, false, vctp32q((uint32_t)width), 0};
    finish(gemm, i, &strip, &pair, 1);
}

void ember_gemm_f32_columns_mve(const ember_gemm_f32_t *gemm) {
    for (int32_t i = 0; i < gemm->rows; i++) {
        int32_t j = 0;
        for (; j + 4 <= gemm->columns; j += 4) {
            dots(gemm, i, j, 4);
        }
        for (; j < gemm->columns; j++) {
            dots(gemm, i, j, 1);
        }
    }
}
