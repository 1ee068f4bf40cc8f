// SPDX-License-Identifier: Apache-2.0
// Products of three columns with all filters. Contract: columns_dsp.h.
#include <stddef.h>

#include "kernels/cortex_m/columns_dsp.h"
#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = 4, COLUMNS = EMBER_COLUMNS_DSP, PAIR = 2 };

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

SMALL void ember_columns_dsp_set_filters(const ember_columns_dsp_t *s) {
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
    if (s->last != NULL) {
        copy_last(s);
    }
}

// One piece of code for both callers.
static __attribute__((noinline)) void multiply(const ember_tiles_dsp_t *tiles) {
    ember_tiles_dsp(tiles);
}

// The last two filters, the first of which may have its outputs already. A single one
// is both of them.
SMALL static void multiply_last(const ember_columns_dsp_t *s, ember_tiles_dsp_t tiles,
                                int8_t *const y[COLUMNS]) {
    int8_t both[COLUMNS][PAIR];
    const bool single = s->conv.filters == 1;
    const int32_t first = single ? 0 : s->conv.filters - PAIR;

    tiles.w = s->last == NULL ? s->w + first * s->inner : s->last;
    tiles.pitch = s->last == NULL ? s->inner : s->fours * FOUR;
    tiles.pitch = single ? 0 : tiles.pitch;
    tiles.by = s->by + first;
    tiles.pairs = 1;
    for (int32_t n = 0; n < COLUMNS; n++) {
        tiles.y[n] = single ? both[n] : y[n] + first;
    }
    multiply(&tiles);
    for (int32_t n = 0; single && n < COLUMNS; n++) {
        *y[n] = both[n][0];
    }
}

SMALL static void limit(int8_t *y, int32_t count, ember_limits_s8_t limits) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = ember_limit_s8(y[i], limits);
    }
}

SMALL void ember_columns_dsp_filters(const ember_columns_dsp_t *s,
                                     int8_t *const y[COLUMNS]) {
    const ember_limits_s8_t limits = s->conv.scales.limits;
    const int32_t filters = s->conv.filters;
    const ember_tiles_dsp_t tiles = {
        .w = s->w,
        .x = s->words,
        .pitch = s->inner,
        .blocks = s->fours,
        .by = s->by,
        .pairs = (s->last == NULL ? filters : filters - 1) / PAIR,
        .y = {y[0], y[1], y[2]},
        .offset = 2 * s->conv.scales.zero_point + 1,
    };

    if (tiles.pairs > 0) {
        multiply(&tiles);
    }
    if (tiles.pairs * PAIR < filters) {
        multiply_last(s, tiles, y);
    }
    if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
        for (int32_t n = 0; n < COLUMNS; n++) {
            limit(y[n], filters, limits);
        }
    }
}
