// SPDX-License-Identifier: Apache-2.0
// Products of three columns with all filters. Contract: columns_dsp.h.
#include <stddef.h>

#include "kernels/cortex_m/columns_dsp.h"
#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = 4, COLUMNS = EMBER_COLUMNS_DSP, PAIR = 2 };

// Adds the products of the last weights of a column, `rest` < 4 of them.
FAST void add_rest(int32_t *sums, int32_t filters, const int8_t *w, int32_t pitch,
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

// Sums of `pairs` pairs of filters from `f` of a tile on, whose weights are at `w`.
static __attribute__((noinline)) void multiply_pairs(const ember_columns_dsp_t *s,
                                                     int32_t f, int32_t pairs,
                                                     const int8_t *w, int32_t pitch,
                                                     int32_t blocks) {
    if (pairs > 0 && blocks > 0) {
        ember_tiles_2x3(s->sums + f * COLUMNS, pairs, w + f * pitch, pitch, s->words,
                        blocks);
    }
}

// The sums of a tile. Filters that others lie behind in memory take the last weights,
// less than four, with some of those, which are multiplied by 0. An odd filter at the
// end is multiplied with the one before it again, or is both of a pair.
SMALL static void multiply(const ember_columns_dsp_t *s, int32_t first, int32_t count) {
    const int32_t pitch = s->inner, blocks = pitch / FOUR, rest = pitch % FOUR;
    const int8_t *w = s->w + first * pitch;
    const bool last = first + count == s->conv.filters;
    const int32_t before = last && rest > 0 ? count - 1 : count;
    const int32_t padded = blocks > 0 ? before / PAIR : 0; // pairs
    const int32_t left = count - padded * PAIR;
    const int32_t from =
        left == 1 && count > 1 && blocks > 0 ? count - PAIR : padded * PAIR;

    if (blocks == 0) { // or no taps at all
        memset(s->sums, 0, (size_t)(count * COLUMNS) * sizeof(*s->sums));
    }
    multiply_pairs(s, 0, padded, w, pitch, blocks + (rest > 0));
    if (left == 0) {
        return;
    }
    multiply_pairs(s, from, 1, w, count > 1 ? pitch : 0, blocks);
    if (rest > 0) {
        add_rest(s->sums + from * COLUMNS, count - from,
                 w + from * pitch + blocks * FOUR, pitch,
                 s->words + blocks * 2 * COLUMNS, rest);
    }
}

// The sums of filters from `first` on become outputs; `b` and `c` are from those of the
// first column to those of the others, 0 for a column that lacks: the first one's come
// last.
FAST void scale(const ember_columns_dsp_t *s, int32_t first, int32_t count, int8_t *y,
                ptrdiff_t b, ptrdiff_t c) {
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
        y[c] = (int8_t)ember_scaled_half_dsp(ember_add_twice(twice, sums[2]), by);
        y[b] = (int8_t)ember_scaled_half_dsp(ember_add_twice(twice, sums[1]), by);
        y[0] = (int8_t)ember_scaled_half_dsp(ember_add_twice(twice, sums[0]), by);
        bias += biased;
        sums += COLUMNS;
    }
}

SMALL static void limit(int8_t *y, int32_t count, ember_limits_s8_t limits) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = ember_limit_s8(y[i], limits);
    }
}

SMALL void ember_columns_dsp_filters(const ember_columns_dsp_t *s,
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
