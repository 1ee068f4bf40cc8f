// SPDX-License-Identifier: Apache-2.0
// Sums of a depthwise convolution with Helium, for files that turn them into outputs.
//
// Products of two taps are added as int16, which holds them unless both weights are
// -128.
#ifndef EMBER_KERNELS_ENGINE_MVE_DEPTHWISE_SUMS_MVE_H
#define EMBER_KERNELS_ENGINE_MVE_DEPTHWISE_SUMS_MVE_H

#include "kernels/engine/mve/depthwise_mve.h"
#include "kernels/engine/mve/products_mve.h"

typedef ember_depthwise_block_mve_t block_t;
typedef ember_depthwise_line_mve_t line_t;

typedef struct {
    int32x4_t v[4];
} sums_t;

enum { UPPER_HALF = 1 << 15 };

// Adds sums of int16 products: `even` those of channels 0, 2, .., `odd` of 1, 3, .. The
// upper half of twice a word times UPPER_HALF is the word's upper half.
INLINE void widen(sums_t *sums, int16x8_t even, int16x8_t odd) {
    sums->v[2] = vqdmlahq_n_s32(sums->v[2], vreinterpretq_s32_s16(even), UPPER_HALF);
    sums->v[0] = vaddq_s32(sums->v[0], vmovlbq_s16(even));
    sums->v[3] = vqdmlahq_n_s32(sums->v[3], vreinterpretq_s32_s16(odd), UPPER_HALF);
    sums->v[1] = vaddq_s32(sums->v[1], vmovlbq_s16(odd));
}

// Keeps the compiler from loading ahead, or only once: there are not enough registers.
INLINE void in_order(void) {
    __asm__ volatile("" ::: "memory");
}

INLINE void add_tap(sums_t *sums, const int8_t *x, const int8_t *w) {
    const int8x16_t a = vldrbq_s8(x), b = vldrbq_s8(w);
    widen(sums, vmullbq_int_s8(a, b), vmulltq_int_s8(a, b));
    in_order();
}

INLINE void add_two_taps(sums_t *sums, const int8_t *x, const int8_t *next,
                         const int8_t *w) {
    const int8x16_t a = vldrbq_s8(x), b = vldrbq_s8(w);
    int16x8_t even = vmullbq_int_s8(a, b), odd = vmulltq_int_s8(a, b);

    in_order();
    const int8x16_t c = vldrbq_s8(next);
    even = vaddq_s16(even, vmullbq_int_s8(c, vldrbq_s8(w + EMBER_DEPTHWISE_LANES_MVE)));
    in_order();
    odd = vaddq_s16(odd, vmulltq_int_s8(c, vldrbq_s8(w + EMBER_DEPTHWISE_LANES_MVE)));
    widen(sums, even, odd);
    in_order();
}

// The row of the ring that is `slot` slots after slot 0, less than twice around.
INLINE const int8_t *row_of(const line_t *line, int32_t slot) {
    slot -= slot < line->slots ? 0 : line->slots;
    return line->ring + slot * line->pitch;
}

// `at` is the distance of the first tap from the start of its row.
INLINE sums_t sum_any(const block_t *block, sums_t sums, const line_t *line,
                      int32_t at) {
    const int8_t *w = block->weights;
    const int32_t step = line->step;
    int32_t slot = line->slot;

    for (int32_t ky = 0; ky < block->rows; ky++) {
        const int8_t *x = row_of(line, slot) + at;
        int32_t left = block->columns;
        for (; block->paired && left > 1; left -= 2) {
            add_two_taps(&sums, x, x + step, w);
            x += 2 * step;
            w += 2 * EMBER_DEPTHWISE_LANES_MVE;
        }
        for (; left > 0; left--) {
            add_tap(&sums, x, w);
            x += step;
            w += EMBER_DEPTHWISE_LANES_MVE;
        }
        slot += line->down;
    }
    return sums;
}

// Scales the sums of vector `n`.
typedef int32x4_t (*scaled_fn)(const block_t *block, const sums_t *sums, int32_t n);

// What outputs share besides the block.
typedef struct {
    int16_t zero_point;
    bool limited; // by more than int8
    mve_pred16_t lanes;
} common_t;

INLINE int8x16_t limited(const block_t *block, int8x16_t all) {
    all = vmaxq_s8(all, vdupq_n_s8(block->limits.low));
    return vminq_s8(all, vdupq_n_s8(block->limits.high));
}

// Scales and stores the outputs; narrowing puts the channels in order.
INLINE void finish(const block_t *block, const sums_t *sums, common_t common,
                   scaled_fn scaled, int8_t *y) {
    int16x8_t even = vdupq_n_s16(0), odd = even;
    int8x16_t all = vdupq_n_s8(0);

    even = vqmovnbq_s32(even, scaled(block, sums, 0));
    even = vqmovntq_s32(even, scaled(block, sums, 2));
    even = vqaddq_n_s16(even, common.zero_point);
    all = vqmovnbq_s16(all, even);
    odd = vqmovnbq_s32(odd, scaled(block, sums, 1));
    odd = vqmovntq_s32(odd, scaled(block, sums, 3));
    odd = vqaddq_n_s16(odd, common.zero_point);
    all = vqmovntq_s16(all, odd);
    if (common.limited) {
        all = limited(block, all);
    }
    vstrbq_p_s8(y, all, common.lanes);
}

INLINE common_t common_of(const block_t *block, const line_t *line) {
    return (common_t){
        .zero_point = (int16_t)block->zero_point,
        .limited = block->limits.low > INT8_MIN || block->limits.high < INT8_MAX,
        .lanes = vctp8q((uint32_t)line->lanes),
    };
}

INLINE sums_t starting(const block_t *block) {
    sums_t sums;
    for (int32_t n = 0; n < 4; n++) {
        sums.v[n] = vldrwq_s32(block->first[n]);
    }
    return sums;
}

// `count` groups of outputs, the first of which is group `from` of its row.
INLINE void run_scaled(const block_t *block, const line_t *line, int32_t from,
                       int32_t count, scaled_fn scaled) {
    const common_t common = common_of(block, line);

    for (; count > 0; count--) {
        const sums_t sums = sum_any(block, starting(block), line, from * line->x_step);
        finish(block, &sums, common, scaled, line->y + from * line->y_step);
        from++;
    }
}

#endif // EMBER_KERNELS_ENGINE_MVE_DEPTHWISE_SUMS_MVE_H
