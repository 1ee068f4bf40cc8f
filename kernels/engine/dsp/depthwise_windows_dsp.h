// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions with the DSP instructions, for files that turn sums into
// outputs: four channels at a time, whose weights are first widened to int16 in
// scratch. Taps outside the image are left out.
#ifndef EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_WINDOWS_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_WINDOWS_DSP_H

#include <stddef.h>

#include "kernels/engine/dsp/depthwise_s8_dsp.h"
#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4 };

typedef ember_depthwise_s8_dsp_t state_t;

// Sums of four channels.
typedef struct {
    int32_t a, b, c, d;
} sums_t;

typedef struct {
    sums_t first; // what outputs start from
    ember_scale_dsp_t by[FOUR];
    const ember_scales_s8_t *scales;
    bool limited; // by more than int8
} block_t;

// Turns sums into four outputs.
typedef void (*store_fn)(const block_t *block, sums_t sums, int8_t *y);

INLINE void add_tap(sums_t *sums, uint32_t offset, const int8_t *x, uint32_t even,
                    uint32_t odd) {
    const uint32_t word = ember_word_dsp(x);
    const uint32_t low = ember_sxtab16(offset, word);
    const uint32_t high = ember_sxtab16_odd(offset, word);
    sums->a = ember_smlabb(low, even, sums->a);
    sums->c = ember_smlatt(low, even, sums->c);
    sums->b = ember_smlabb(high, odd, sums->b);
    sums->d = ember_smlatt(high, odd, sums->d);
}

// One output with the taps that are inside the image; `x` is under tap (0, 0).
INLINE void run_one(const state_t *s, const block_t *block, const int8_t *x,
                    ember_taps_s8_t down, ember_taps_s8_t across, store_fn store,
                    int8_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const uint32_t offset = ember_both_dsp(conv->x_offset);
    const int32_t step = conv->channels * conv->width.dilation;
    const ptrdiff_t pitch =
        (ptrdiff_t)conv->channels * conv->width.in * conv->height.dilation;
    sums_t sums = block->first;

    for (int32_t ky = down.first; ky < down.past; ky++) {
        const int8_t *at = x + ky * pitch + across.first * step;
        const uint32_t *w = s->weights + 2 * (ky * conv->width.kernel + across.first);
        for (int32_t left = across.past - across.first; left > 0; left--) {
            add_tap(&sums, offset, at, w[0], w[1]);
            at += step;
            w += 2;
        }
    }
    store(block, sums, y);
}

// One row of outputs; `x` is under tap (0, 0) of output 0, maybe outside the image.
INLINE void run_row(const state_t *s, const block_t *block, const int8_t *x,
                    ember_taps_s8_t down, store_fn store, int8_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *width = &conv->width;
    const int32_t next = conv->channels * width->stride;

    for (int32_t ox = 0; ox < width->out; ox++) {
        run_one(s, block, x + ox * next, down, ember_taps_s8(width, ox), store,
                y + ox * conv->channels);
    }
}

INLINE void set_block(const state_t *s, block_t *block, int32_t from) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    int32_t first[FOUR] = {0, 0, 0, 0};

    for (int32_t tap = 0; tap < s->taps; tap++) {
        const int8_t *w = s->conv.w + (ptrdiff_t)tap * s->conv.filters + from;
        s->weights[2 * tap] = ember_sxtb16(ember_word_dsp(w));
        s->weights[2 * tap + 1] = ember_sxtb16_odd(ember_word_dsp(w));
    }
    for (int32_t i = 0; i < FOUR; i++) {
        first[i] = scales->bias == NULL ? 0 : scales->bias[from + i];
        if (s->conv.rows != EMBER_ROWS_REAL) {
            block->by[i] =
                ember_scale_dsp(scales->multipliers[from + i], scales->shifts[from + i],
                                scales->zero_point);
        }
    }
    block->first = (sums_t){first[0], first[1], first[2], first[3]};
    block->scales = scales;
    block->limited = scales->limits.low > INT8_MIN || scales->limits.high < INT8_MAX;
}

// Four channels, from `from` on.
INLINE void run_block(const state_t *s, int32_t from, store_fn store) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height;
    const ptrdiff_t pitch = (ptrdiff_t)conv->width.in * conv->channels;
    const int8_t *x = conv->x + from;
    int8_t *y = conv->y + from;
    block_t block;

    set_block(s, &block, from);
    for (int32_t n = 0; n < conv->batches; n++) {
        for (int32_t oy = 0; oy < height->out; oy++) {
            const int32_t top = oy * height->stride - height->padding;
            run_row(s, &block, x + top * pitch - conv->width.padding * conv->channels,
                    ember_taps_s8(height, oy), store, y);
            y += (ptrdiff_t)conv->width.out * conv->channels;
        }
        x += height->in * pitch;
    }
}

#endif // EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_WINDOWS_DSP_H
