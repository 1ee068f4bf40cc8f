// SPDX-License-Identifier: Apache-2.0
// Layers of int16 with the DSP instructions. Contract: conv_s16_dsp.h.
#include "kernels/cortex_m/conv_s16_dsp.h"

#include <arm_dsp_columns.h>
#include <arm_dsp_tiles.h>
#include <string.h>

#include "kernels/cortex_m/scale_s16_dsp.h"

enum { FOUR = 4, COLUMNS = EMBER_COLUMNS_S16, PAIR = 2 };
enum { MOST = 1 << 15 }; // elements of a column, filters
enum { SIZE = (int32_t)sizeof(int16_t) };

typedef ember_conv_s16_dsp_t state_t;

INLINE uint32_t pair_at(const int16_t *x) {
    uint32_t pair;
    memcpy(&pair, x, sizeof(pair));
    return pair;
}

// Four elements become the words of a column.
INLINE void pack(uint32_t *to, const int16_t *x) {
    const uint32_t first = pair_at(x), second = pair_at(x + PAIR);
    to[0] = ember_low_halves(first, second);
    to[COLUMNS] = ember_high_halves(first, second);
}

// Words of three columns from `fours` groups of each; returns their end.
FAST uint32_t *pack_three(uint32_t *to, const int16_t *a, const int16_t *b,
                          const int16_t *c, int32_t fours) {
    for (; fours > 0; fours--) {
        pack(to, a);
        pack(to + 1, b);
        pack(to + 2, c);
        to += 2 * COLUMNS;
        a += FOUR;
        b += FOUR;
        c += FOUR;
    }
    return to;
}

// --- columns -------------------------------------------------------------------------

FAST void copy_one_by_one(const ember_runs_s16_t *runs, const int16_t *from,
                          int16_t *to) {
    for (int32_t run = 0; run < runs->across; run++) {
        for (int32_t i = 0; i < runs->length; i++) {
            *to++ = from[i];
        }
        from += runs->step;
    }
}

static void copy(const ember_runs_s16_t *runs) {
    const int16_t *from = runs->from;
    int16_t *to = runs->to;

    if (runs->rows <= 0) {
        return;
    }
    if (runs->across == 1 && runs->length == runs->line && runs->length >= PAIR) {
        ember_copy_runs_dsp((int8_t *)to, (const int8_t *)from, runs->length * SIZE,
                            runs->pitch * SIZE, runs->rows);
        return;
    }
    for (int32_t row = runs->rows; row > 0; row--) {
        if (runs->length < PAIR) {
            copy_one_by_one(runs, from, to);
        } else if (runs->across > 0) {
            ember_copy_runs_dsp((int8_t *)to, (const int8_t *)from, runs->length * SIZE,
                                runs->step * SIZE, runs->across);
        }
        from += runs->pitch;
        to += runs->line;
    }
}

// Words of three whole columns, whose runs are fours, from the image.
FAST void pack_runs(const state_t *s, const ember_column_s16_t *columns) {
    const ember_runs_s16_t runs = ember_runs_s16(&s->conv, columns, NULL);
    const int16_t *a = columns[0].from, *b = columns[1].from, *c = columns[2].from;
    uint32_t *to = s->words;

    for (int32_t row = runs.rows; row > 0; row--) {
        int32_t at = 0;
        for (int32_t run = runs.across; run > 0; run--) {
            to = pack_three(to, a + at, b + at, c + at, runs.length / FOUR);
            at += runs.step;
        }
        a += runs.pitch;
        b += runs.pitch;
        c += runs.pitch;
    }
}

static void make_words(const state_t *s, const ember_column_s16_t *columns,
                       bool whole) {
    const int32_t pitch = s->fours * FOUR;
    int16_t *copies = s->copies;

    if (whole && s->conv.conv.depth % FOUR == 0) {
        pack_runs(s, columns);
        return;
    }
    for (int32_t n = 0; n < COLUMNS; n++) {
        int16_t *to = copies + n * pitch;
        ember_runs_s16_t runs;
        if (whole) {
            runs = ember_runs_s16(&s->conv, &columns[n], to);
        } else {
            memset(to, 0, (size_t)(pitch * SIZE));
            runs = ember_runs_s16_inside(&s->conv, &columns[n], to);
        }
        copy(&runs);
    }
    pack_three(s->words, copies, copies + pitch, copies + 2 * pitch, s->fours);
}

// --- sums ----------------------------------------------------------------------------

// Filters behind which others lie are read beyond their end; what lies there is
// multiplied by 0. The last two are copied for it.
SMALL static void copy_last(const state_t *s) {
    const int32_t filters = s->conv.conv.filters, inner = s->inner;

    for (int32_t i = 0; i < PAIR; i++) {
        const int32_t f = filters - PAIR + i;
        memcpy(s->last + i * s->fours * FOUR, s->conv.conv.w + (f > 0 ? f : 0) * inner,
               (size_t)inner);
    }
}

SMALL static void set_bias(const state_t *s) {
    const ember_scales_s8_t *scales = &s->conv.conv.scales;
    const int32_t filters = s->conv.conv.filters;

    for (int32_t f = 0; f < filters; f++) {
        s->bias[f] = scales->bias == NULL ? 0 : scales->bias[f];
    }
    if (filters == 1) {
        s->bias[1] = s->bias[0];
    }
}

// The sums of three columns with all filters; a single one is both of a pair.
static void multiply(const state_t *s) {
    const ember_conv_s8_t *conv = &s->conv.conv;
    const int32_t filters = conv->filters;
    const int32_t first = filters > 1 ? filters - PAIR : 0;
    const int32_t room = filters > 1 ? filters : PAIR;
    int32_t *sums = s->sums;
    ember_tile_sums_dsp_t tiles = {
        .w = conv->w,
        .x = s->words,
        .pitch = s->inner,
        .blocks = s->fours,
        .bias = s->bias == NULL ? conv->scales.bias : s->bias,
        .pairs = (s->last == NULL ? filters : filters - 1) / PAIR,
        .sums = {sums, sums + room, sums + 2 * room},
    };

    if (tiles.pairs > 0) {
        ember_tile_sums_dsp(&tiles);
    }
    if (tiles.pairs * PAIR < filters) {
        tiles.w = s->last == NULL ? conv->w + first * s->inner : s->last;
        tiles.pitch = s->last == NULL ? s->inner : s->fours * FOUR;
        tiles.pitch = filters > 1 ? tiles.pitch : 0;
        tiles.bias += first;
        tiles.pairs = 1;
        for (int32_t n = 0; n < COLUMNS; n++) {
            tiles.sums[n] += first;
        }
        ember_tile_sums_dsp(&tiles);
    }
}

FAST void scale(const state_t *s, const int32_t *sums, int16_t *y) {
    const ember_scales_s8_t *scales = &s->conv.conv.scales;
    const ember_limits_s16_t limits = s->conv.limits;
    const int32_t *multipliers = scales->multipliers, *shifts = scales->shifts;
    const int32_t filters = s->conv.conv.filters;

    for (int32_t f = 0; f < filters; f++) {
        const ember_filter_dsp_t by = ember_filter_dsp(0, multipliers[f], shifts[f]);
        y[f] = (int16_t)ember_scaled_s16_dsp(sums[f], by);
    }
    for (int32_t f = 0; ember_is_limited_s16(limits) && f < filters; f++) {
        y[f] = ember_limit_s16(y[f], limits);
    }
}

// A single column, of filters in fours: its words lie side by side.
static void run_single(const state_t *s, int16_t *y) {
    const ember_conv_s8_t *conv = &s->conv.conv;
    const int32_t *bias = s->bias == NULL ? conv->scales.bias : s->bias;

    for (int32_t i = 1; i < 2 * s->fours; i++) {
        s->words[i] = s->words[i * COLUMNS];
    }
    ember_tiles_4x1(s->sums, conv->filters / FOUR, conv->w, s->inner, s->words,
                    s->fours);
    for (int32_t f = 0; f < conv->filters; f++) {
        s->sums[f] = (int32_t)((uint32_t)s->sums[f] + (uint32_t)bias[f]);
    }
    scale(s, s->sums, y);
}

static void take(const void *state, const ember_column_s16_t columns[COLUMNS],
                 int32_t count, bool whole) {
    const state_t *s = state;
    const int32_t filters = s->conv.conv.filters;
    const int32_t room = filters > 1 ? filters : PAIR;

    make_words(s, columns, whole);
    if (count == 1 && filters % FOUR == 0 && s->last == NULL) {
        run_single(s, columns[0].y);
        return;
    }
    multiply(s);
    for (int32_t n = 0; n < count; n++) {
        scale(s, s->sums + n * room, columns[n].y);
    }
}

SMALL void ember_conv_s16_dsp_run(const state_t *s) {
    if (s->bias != NULL) {
        set_bias(s);
    }
    if (s->last != NULL) {
        copy_last(s);
    }
    if (s->copies != NULL) {
        memset(s->copies, 0, (size_t)(COLUMNS * s->fours * FOUR * SIZE));
    }
    ember_columns_s16_walk(&s->conv, take, s);
}

// --- preparing -----------------------------------------------------------------------

SMALL static void set_scratch(state_t *s, ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->conv.conv;
    const int32_t padded = s->fours * FOUR;
    const int32_t filters = conv->filters > 1 ? conv->filters : PAIR;
    const int32_t words = COLUMNS * padded * SIZE;
    const int32_t sums = COLUMNS * filters * (int32_t)sizeof(int32_t);
    const bool biased = conv->scales.bias != NULL && conv->filters > 1;
    const int32_t bias = biased ? 0 : filters * (int32_t)sizeof(int32_t);
    const int32_t last = s->inner % FOUR == 0 ? 0 : PAIR * padded;
    const bool direct = ember_conv_s8_is_direct(conv) && conv->depth % FOUR == 0;
    const int32_t copies = direct ? 0 : words;
    int8_t *scratch =
        ember_node_scratch(node, (size_t)(words + sums + bias + copies + last));

    if (scratch == NULL) {
        return;
    }
    s->words = (uint32_t *)(void *)scratch;
    s->sums = (int32_t *)(void *)(scratch + words);
    scratch += words + sums;
    s->bias = bias > 0 ? (int32_t *)(void *)scratch : NULL;
    s->copies = copies > 0 ? (int16_t *)(void *)(scratch + bias) : NULL;
    s->last = last > 0 ? scratch + bias + copies : NULL;
}

SMALL ember_status_t ember_conv_s16_dsp_prepare(state_t *s, ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->conv.conv;
    const int64_t inner = ember_conv_s8_taps(conv) * conv->depth;

    if (conv->depth != conv->channels || inner > MOST || conv->filters > MOST ||
        conv->rows != EMBER_ROWS_NORMAL) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: not for DSP");
    }
    s->inner = (int32_t)inner;
    s->fours = (s->inner + FOUR - 1) / FOUR;
    set_scratch(s, node);
    return ember_node_status(node);
}
