// SPDX-License-Identifier: Apache-2.0
// Products of three columns with all filters. Contract: columns_dsp.h.
#include <stddef.h>

#include "kernels/cortex_m/columns_dsp.h"
#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = 4, COLUMNS = EMBER_COLUMNS_DSP, PAIR = 2 };

// Adds the products of the last weights of a column, `rest` < 4 of them.
static __attribute__((noinline)) void add_rest(int32_t *sums, int32_t filters,
                                               const int8_t *w, int32_t pitch,
                                               const uint32_t *x, int32_t rest) {
    const uint32_t a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5];

    for (; filters > 0; filters--) {
        const uint32_t word = ember_part_dsp(w, rest);
        sums[0] = ember_add_four(sums[0], word, a, d);
        sums[1] = ember_add_four(sums[1], word, b, e);
        sums[2] = ember_add_four(sums[2], word, c, f);
        sums += COLUMNS;
        w += pitch;
    }
}

// Sums of a filter that is no pair's.
static __attribute__((noinline)) void multiply_one(int32_t *sums, const int8_t *w,
                                                   const uint32_t *x, int32_t blocks) {
    int32_t a = 0, b = 0, c = 0;

    for (; blocks > 0; blocks--) {
        const uint32_t word = ember_ldr_next(&w);
        a = ember_add_four(a, word, x[0], x[3]);
        b = ember_add_four(b, word, x[1], x[4]);
        c = ember_add_four(c, word, x[2], x[5]);
        x += 2 * COLUMNS;
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
}

static void multiply(const ember_columns_dsp_t *s, int32_t first, int32_t count) {
    const int32_t pitch = s->inner, blocks = pitch / FOUR, rest = pitch % FOUR;
    const int8_t *w = s->w + first * pitch;
    const int32_t paired = blocks > 0 ? count & -PAIR : 0;

    if (paired > 0) {
        ember_tiles_2x3(s->sums, paired / PAIR, w, pitch, s->words, blocks);
    }
    for (int32_t f = paired; f < count; f++) {
        multiply_one(s->sums + f * COLUMNS, w + f * pitch, s->words, blocks);
    }
    if (rest > 0) {
        add_rest(s->sums, count, w + blocks * FOUR, pitch,
                 s->words + blocks * 2 * COLUMNS, rest);
    }
}

// The sums of filters from `first` on become outputs; `b` and `c` are from those of the
// first column to those of the others.
static __attribute__((noinline)) void scale(const ember_columns_dsp_t *s, int32_t first,
                                            int32_t count, int8_t *y, ptrdiff_t b,
                                            ptrdiff_t c) {
    static const int32_t none = 0;
    const ember_scales_s8_t *scales = &s->conv.scales;
    const bool biased = scales->bias != NULL;
    const int32_t *bias = biased ? scales->bias + first : &none;
    const int32_t *multipliers = scales->multipliers + first;
    const int32_t *shifts = scales->shifts + first;
    const int32_t zero_point = scales->zero_point;
    const int32_t *sums = s->sums;

    for (const int8_t *end = y + count; y != end; y++) {
        const ember_scale_dsp_t by =
            ember_scale_dsp(*multipliers++, *shifts++, zero_point);
        const int32_t twice = 2 * *bias;
        y[0] = (int8_t)ember_scaled_half_dsp(ember_add_twice(twice, sums[0]), by);
        y[b] = (int8_t)ember_scaled_half_dsp(ember_add_twice(twice, sums[1]), by);
        y[c] = (int8_t)ember_scaled_half_dsp(ember_add_twice(twice, sums[2]), by);
        bias += biased;
        sums += COLUMNS;
    }
}

static __attribute__((noinline)) void limit(int8_t *y, int32_t count,
                                            ember_limits_s8_t limits) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = ember_limit_s8(y[i], limits);
    }
}

void ember_columns_dsp_filters(const ember_columns_dsp_t *s,
                               int8_t *const y[EMBER_COLUMNS_DSP]) {
    const ember_limits_s8_t limits = s->conv.scales.limits;
    const int32_t filters = s->conv.filters;

    for (int32_t f = 0; f < filters; f += EMBER_TILE_DSP) {
        const int32_t left = filters - f;
        const int32_t count = left < EMBER_TILE_DSP ? left : EMBER_TILE_DSP;
        multiply(s, f, count);
        scale(s, f, count, y[0] + f, y[1] - y[0], y[2] - y[0]);
    }
    if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
        for (int32_t n = 0; n < COLUMNS; n++) {
            limit(y[n], filters, limits);
        }
    }
}
