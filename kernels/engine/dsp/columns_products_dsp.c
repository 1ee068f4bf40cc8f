// SPDX-License-Identifier: Apache-2.0
// Products of three columns with all filters. Contract: columns_dsp.h.
#include <stddef.h>

#include "kernels/engine/dsp/columns_dsp.h"
#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4, COLUMNS = EMBER_COLUMNS_DSP, PAIR = 2, CHUNK = 32 };

// Filters that others lie behind in memory are read beyond their end; what lies there
// is multiplied by 0. The last two are copied for it.
SMALL static void copy_last(const ember_columns_dsp_t *s) {
    const int32_t filters = s->conv.filters, inner = s->inner;

    for (int32_t i = 0; i < PAIR; i++) {
        const int32_t f = filters - PAIR + i;
        memcpy(s->last + i * s->fours * FOUR, s->w + (f > 0 ? f : 0) * inner,
               (size_t)inner);
    }
}

// The tiles of all pairs of filters, and of the last two: those that are copied, or
// those with the odd one at the end, the first of which has its outputs already. A
// single filter is both of them.
SMALL static void set_tiles(const ember_columns_dsp_t *s, ember_columns_tiles_t *tiles,
                            int32_t offset) {
    const int32_t filters = s->conv.filters;
    const int32_t first = filters > 1 ? filters - PAIR : 0;
    const ember_tiles_dsp_t pairs = {
        .w = s->w,
        .x = s->words,
        .pitch = s->inner,
        .blocks = s->fours,
        .by = s->by,
        .pairs = (s->last == NULL ? filters : filters - 1) / PAIR,
        .offset = offset,
    };
    tiles->pairs = pairs;
    tiles->last = pairs;
    tiles->last.w = s->last == NULL ? s->w + first * s->inner : s->last;
    tiles->last.pitch = s->last == NULL ? s->inner : s->fours * FOUR;
    tiles->last.pitch = filters > 1 ? tiles->last.pitch : 0;
    tiles->last.by = s->by + first;
    tiles->last.pairs = pairs.pairs * PAIR < filters;
}

SMALL void ember_columns_dsp_set_tiles(const ember_columns_dsp_t *s,
                                       ember_columns_tiles_t *tiles,
                                       const ember_ending_dsp_t *ending) {
    const int32_t offset = ending->set_filters(s);

    if (s->last != NULL) {
        copy_last(s);
    }
    set_tiles(s, tiles, offset);
    tiles->ending = ending;
}

SMALL static int32_t set_filters(const ember_columns_dsp_t *s) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const int32_t *bias = scales->bias;
    const int32_t filters = s->conv.filters;

    for (int32_t f = 0; f < filters; f++) {
        s->by[f] = ember_filter_dsp(bias == NULL ? 0 : bias[f], scales->multipliers[f],
                                    scales->shifts[f]);
    }
    if (filters == 1) {
        s->by[1] = s->by[0];
    }
    return 2 * s->conv.scales.zero_point + 1;
}

// One piece of code for all callers.
static __attribute__((noinline)) void multiply(const ember_columns_dsp_t *s,
                                               const ember_tiles_dsp_t *tiles) {
    (void)s;
    ember_tiles_dsp(tiles);
}

SMALL static void multiply_single(const ember_columns_dsp_t *s,
                                  ember_columns_tiles_t *tiles,
                                  int8_t *const y[COLUMNS]) {
    int8_t both[COLUMNS][PAIR];

    for (int32_t n = 0; n < COLUMNS; n++) {
        tiles->last.y[n] = both[n];
    }
    tiles->ending->tiles(s, &tiles->last);
    for (int32_t n = 0; n < COLUMNS; n++) {
        *y[n] = both[n][0];
    }
}

SMALL static void limit(int8_t *y, int32_t count, ember_limits_s8_t limits) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = ember_limit_s8(y[i], limits);
    }
}

void ember_columns_dsp_filters(const ember_columns_dsp_t *s,
                               ember_columns_tiles_t *tiles, int8_t *const y[COLUMNS]) {
    const ember_limits_s8_t limits = s->conv.scales.limits;
    const int32_t filters = s->conv.filters;

    if (tiles->pairs.pairs > 0) {
        tiles->pairs.y[0] = y[0];
        tiles->pairs.y[1] = y[1];
        tiles->pairs.y[2] = y[2];
        tiles->ending->tiles(s, &tiles->pairs);
    }
    if (filters == 1) {
        multiply_single(s, tiles, y);
    } else if (tiles->last.pairs > 0) {
        tiles->last.y[0] = y[0] + filters - PAIR;
        tiles->last.y[1] = y[1] + filters - PAIR;
        tiles->last.y[2] = y[2] + filters - PAIR;
        tiles->ending->tiles(s, &tiles->last);
    }
    if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
        for (int32_t n = 0; n < COLUMNS; n++) {
            limit(y[n], filters, limits);
        }
    }
}

static void scale_one(const ember_columns_dsp_t *s, const int32_t *sums, int32_t from,
                      int32_t count, int8_t *y) {
    const ember_limits_s8_t limits = s->conv.scales.limits;
    const int32_t offset = 2 * s->conv.scales.zero_point + 1;

    for (int32_t i = 0; i < count; i++) {
        const ember_filter_dsp_t *by = &s->by[from + i];
        const int32_t sum = (int32_t)((uint32_t)by->bias + (uint32_t)sums[i]);
        const int32_t high = ember_smmlar(sum, by->multiplier, sum);
        const int32_t shifted = (high + (high >> 31)) >> by->shift;
        y[from + i] = (int8_t)ember_ssat8_half(shifted + offset);
    }
    if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
        limit(y + from, count, limits);
    }
}

const ember_ending_dsp_t ember_ending_dsp = {set_filters, multiply, scale_one};

void ember_columns_dsp_one(const ember_columns_dsp_t *s,
                           const ember_ending_dsp_t *ending, int8_t *y) {
    const int32_t filters = s->conv.filters;
    const int8_t *w = s->w;
    int32_t sums[CHUNK];

    for (int32_t i = 1; i < 2 * s->fours; i++) {
        s->words[i] = s->words[i * COLUMNS];
    }
    for (int32_t from = 0; from < filters; from += CHUNK) {
        const int32_t left = filters - from;
        const int32_t count = left < CHUNK ? left : CHUNK;
        ember_tiles_4x1(sums, count / FOUR, w, s->inner, s->words, s->fours);
        ending->one(s, sums, from, count, y);
        w += CHUNK * s->inner;
    }
}
