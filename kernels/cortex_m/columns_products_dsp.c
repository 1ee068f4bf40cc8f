// SPDX-License-Identifier: Apache-2.0
// Products of three columns with all filters. Contract: columns_dsp.h.
#include <stddef.h>

#include "kernels/cortex_m/columns_dsp.h"
#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = 4, COLUMNS = EMBER_COLUMNS_DSP, PAIR = 2 };

// From the outputs of the first column to those of the others.
typedef struct {
    int32_t b, c;
} steps_t;

// Of the filters that come next.
typedef struct {
    const int32_t *bias;
    const int32_t *multipliers;
    const int32_t *shifts;
    int32_t zero_point;
} scales_t;

INLINE void store(int8_t *y, steps_t steps, ember_scale_dsp_t by, int32_t a, int32_t b,
                  int32_t c) {
    y[0] = (int8_t)ember_scaled_dsp(a, by);
    y[steps.b] = (int8_t)ember_scaled_dsp(b, by);
    y[steps.c] = (int8_t)ember_scaled_dsp(c, by);
}

INLINE ember_scale_dsp_t scale_of(const scales_t *scales, int32_t f) {
    return ember_scale_dsp(scales->multipliers[f], scales->shifts[f],
                           scales->zero_point);
}

// Adds the products of the last weights of a column, `count` < 4 of them.
static __attribute__((noinline)) void add_rest(ember_tile_dsp_t *tile, const int8_t *w,
                                               int32_t pitch, const uint32_t *x,
                                               int32_t count) {
    const uint32_t a = ember_part_dsp(w, count);
    const uint32_t b = ember_part_dsp(w + pitch, count);

    tile->a0 = ember_add_four(tile->a0, a, x[0], x[3]);
    tile->a1 = ember_add_four(tile->a1, a, x[1], x[4]);
    tile->a2 = ember_add_four(tile->a2, a, x[2], x[5]);
    tile->b0 = ember_add_four(tile->b0, b, x[0], x[3]);
    tile->b1 = ember_add_four(tile->b1, b, x[1], x[4]);
    tile->b2 = ember_add_four(tile->b2, b, x[2], x[5]);
}

// All pairs of filters.
static __attribute__((noinline)) void
run_pairs(const ember_columns_dsp_t *s, scales_t scales, int8_t *y, steps_t steps) {
    static const int32_t none[PAIR] = {0, 0};
    const int32_t pitch = s->inner, blocks = pitch / FOUR, rest = pitch % FOUR;
    const int32_t biased = scales.bias == NULL ? 0 : PAIR;
    const int8_t *const end = y + (s->conv.filters & -PAIR);
    const uint32_t *const x = s->words;
    const int8_t *w = s->w;

    scales.bias = biased == 0 ? none : scales.bias;
    while (y != end) {
        const int32_t a = scales.bias[0], b = scales.bias[1];
        ember_tile_dsp_t tile = {a, a, a, b, b, b};
        if (blocks > 0) {
            tile = ember_tile_2x3(tile, w, pitch, x, blocks);
        }
        if (rest > 0) {
            ember_tile_dsp_t sums = tile;
            add_rest(&sums, w + blocks * FOUR, pitch, x + blocks * 2 * COLUMNS, rest);
            tile = sums;
        }
        store(y, steps, scale_of(&scales, 0), tile.a0, tile.a1, tile.a2);
        store(y + 1, steps, scale_of(&scales, 1), tile.b0, tile.b1, tile.b2);
        y += PAIR;
        w += PAIR * pitch;
        scales.bias += biased;
        scales.multipliers += PAIR;
        scales.shifts += PAIR;
    }
}

// Filter `f`, the last one.
static __attribute__((noinline)) void run_single(const ember_columns_dsp_t *s,
                                                 const scales_t *scales, int32_t f,
                                                 int8_t *y, steps_t steps) {
    const int32_t bias = scales->bias == NULL ? 0 : scales->bias[f];
    const int32_t rest = s->inner % FOUR;
    const int8_t *w = s->w + f * s->inner;
    const int8_t *const end = w + s->inner - rest;
    const uint32_t *x = s->words;
    int32_t a = bias, b = bias, c = bias;

    for (int32_t left = s->inner; left > 0; left -= FOUR) {
        const uint32_t word = w == end ? ember_part_dsp(w, rest) : ember_ldr_next(&w);
        a = ember_add_four(a, word, x[0], x[3]);
        b = ember_add_four(b, word, x[1], x[4]);
        c = ember_add_four(c, word, x[2], x[5]);
        x += 2 * COLUMNS;
    }
    store(y, steps, scale_of(scales, f), a, b, c);
}

static __attribute__((noinline)) void limit(int8_t *y, int32_t count,
                                            ember_limits_s8_t limits) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = ember_limit_s8(y[i], limits);
    }
}

void ember_columns_dsp_filters(const ember_columns_dsp_t *s,
                               int8_t *const y[EMBER_COLUMNS_DSP]) {
    const ember_scales_s8_t *by = &s->conv.scales;
    const scales_t scales = {by->bias, by->multipliers, by->shifts, by->zero_point};
    const int32_t filters = s->conv.filters, last = filters - 1;
    const steps_t steps = {(int32_t)(y[1] - y[0]), (int32_t)(y[2] - y[0])};

    run_pairs(s, scales, y[0], steps);
    if (filters % PAIR > 0) {
        run_single(s, &scales, last, y[0] + last, steps);
    }
    if (by->limits.low > INT8_MIN || by->limits.high < INT8_MAX) {
        for (int32_t n = 0; n < COLUMNS; n++) {
            limit(y[n], filters, by->limits);
        }
    }
}
