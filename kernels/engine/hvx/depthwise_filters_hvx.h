// SPDX-License-Identifier: Apache-2.0
// Part of depthwise_hvx.c: where its scratch has what, and weights and numbers of
// filters in the order in which vectors read them.
#ifndef EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_FILTERS_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_FILTERS_HVX_H

#include "kernels/engine/hvx/depthwise_words_hvx.h"

enum { ONES = 0x01010101 };
enum { AT_ONCE = 32 }; // blocks, before doubts about results are settled

static int64_t vectors(int64_t bytes) {
    return (bytes + EMBER_HVX - 1) / EMBER_HVX * EMBER_HVX;
}

// Bytes from the first aligned one of scratch to its parts.
typedef struct places {
    int64_t offsets; // of taps in `words`
    int64_t weights; // (sharing, groups, columns of taps, period) words
    int64_t numbers; // (period / 128, FOUR, EMBER_NUMBERS_HVX) vectors
    int64_t line;    // numbers of one kind, or weights of a row of taps
    int64_t nearest; // AT_ONCE vectors, of an ending
    int64_t words;   // (groups, row) words
    int64_t image;
    int64_t all;
} places_t;

static places_t places_of(const ember_depthwise_hvx_t *s) {
    const int64_t taps = (int64_t)s->groups * s->conv.width.kernel;
    const int64_t line = s->period * (int64_t)WORD;
    places_t at = {.offsets = 0};

    at.weights = vectors(taps * WORD);
    at.numbers = at.weights + s->sharing * taps * line;
    at.line = at.numbers + line * EMBER_NUMBERS_HVX;
    at.nearest = at.line + (s->packed != NULL ? 0 : FOUR * line + EMBER_HVX);
    at.words = at.nearest + (s->conv.rows == EMBER_ROWS_REAL ? AT_ONCE * EMBER_HVX : 0);
    at.image = at.words + (int64_t)s->groups * s->pitch * WORD + 2 * WORDS;
    at.all = at.image + (int64_t)s->rows * s->pitch + 3 * EMBER_HVX;
    return at;
}

// Copies `count` bytes to the start of a line of `most`, which they then fill: what is
// there is copied behind itself. Up to a vector behind the line is clobbered.
static void repeat(int8_t *to, const int8_t *from, int32_t count, int32_t most) {
    (void)ember_copy_hvx(to, from, count < most ? count : most);
    for (int32_t made = count; made < most; made *= 2) {
        const int32_t past = made < most - made ? made : most - made;
        for (int32_t at = 0; at < past; at += EMBER_HVX) {
            ember_hvx_store_any(to + made + at, ember_hvx_load_any(to + at));
        }
    }
}

// Weights of column `x` of four rows of taps from `first` on; 0 where there is none.
static void set_weights(const ember_depthwise_hvx_t *s, int32_t first, int32_t x,
                        int8_t *line, HVX_Vector *to) {
    const ember_conv_s8_t *conv = &s->conv;
    const int8_t *rows[FOUR];

    for (int32_t i = 0; i < FOUR; i++) {
        const int32_t y = first + i;
        int8_t *row = line + i * s->period;
        rows[i] = row;
        if (y >= 0 && y < conv->height.kernel) {
            const ptrdiff_t tap = (ptrdiff_t)y * conv->width.kernel + x;
            const int8_t *w = conv->w + tap * conv->channels;
            if (s->period == conv->channels) {
                rows[i] = w;
            } else {
                repeat(row, w, conv->channels, s->period);
            }
        } else {
            (void)ember_fill_hvx(row, Q6_V_vzero(), s->period);
        }
    }
    interleave_rows(rows, s->period, (int8_t *)to);
}

// Numbers of a kind, one for each weight of a tap, to every EMBER_NUMBERS_HVX-th
// vector.
static void set_numbers(const ember_depthwise_hvx_t *s, const int32_t *from,
                        int8_t *line, HVX_Vector *to) {
    repeat(line, (const int8_t *)from, s->conv.channels * WORD, s->period * WORD);
    for (int32_t at = 0; at < s->period * WORD; at += EMBER_HVX) {
        ember_hvx_store(to, ember_hvx_load(line + at));
        to += EMBER_NUMBERS_HVX;
    }
}

// The bias, and the offset of the image times the sum of the weights.
static void finish_numbers(const ember_depthwise_hvx_t *s, const HVX_Vector *weights,
                           HVX_Vector *numbers) {
    const int32_t taps = s->groups * s->conv.width.kernel;
    const int32_t count = s->period / 32;
    const uint32_t offset = (uint16_t)s->conv.x_offset;
    const HVX_Vector ones = Q6_V_vsplat_R(ONES);

    for (int32_t i = 0; i < count; i++) {
        HVX_Vector *own = numbers + i * EMBER_NUMBERS_HVX;
        HVX_Vector sum = Q6_V_vzero();
        for (int32_t tap = 0; tap < taps; tap++) {
            sum = Q6_Vw_vrmpyacc_VwVbVb(sum, ember_hvx_load(weights + tap * count + i),
                                        ones);
        }
        sum = Q6_Vw_vmpyi_VwRh(sum, (int32_t)(offset << 16 | offset));
        if (s->conv.scales.bias != NULL) {
            sum = Q6_Vw_vadd_VwVw(sum, ember_hvx_load(own + EMBER_BIAS_HVX));
        }
        const ember_factors_hvx_t by =
            ember_factors_hvx(ember_hvx_load(own + EMBER_MULTIPLIERS_HVX),
                              ember_hvx_load(own + EMBER_SHIFTS_HVX));
        ember_hvx_store(own + EMBER_BIAS_HVX, sum);
        ember_hvx_store(own + EMBER_HALVES_HVX, by.halves);
        ember_hvx_store(own + EMBER_WHOLE_HVX, by.whole);
    }
}

static void set_filters(const ember_depthwise_hvx_t *s, int8_t *scratch, places_t at) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    HVX_Vector *weights = (HVX_Vector *)(void *)(scratch + at.weights);
    HVX_Vector *numbers = (HVX_Vector *)(void *)(scratch + at.numbers);
    HVX_Vector *to = weights;
    int8_t *line = scratch + at.line;

    for (int32_t group = 0; group < s->groups; group++) {
        for (int32_t x = 0; x < s->conv.width.kernel; x++) {
            set_weights(s, group * FOUR, x, line, to);
            to += s->period / 32;
        }
    }
    for (int32_t x = 0; s->sharing > 1 && x < s->conv.width.kernel; x++) {
        set_weights(s, -1, x, line, to); // a row further down
        to += s->period / 32;
    }
    if (scales->bias != NULL) {
        set_numbers(s, scales->bias, line, numbers + EMBER_BIAS_HVX);
    }
    if (s->conv.rows != EMBER_ROWS_REAL) {
        set_numbers(s, scales->multipliers, line, numbers + EMBER_MULTIPLIERS_HVX);
        set_numbers(s, scales->shifts, line, numbers + EMBER_SHIFTS_HVX);
    }
    finish_numbers(s, weights, numbers);
}

// The weights, numbers behind them, where vectors can read them.
static const int8_t *filters_of(const ember_depthwise_hvx_t *s, int8_t *scratch,
                                places_t at) {
    if (s->packed == NULL) {
        set_filters(s, scratch, at);
    } else if ((uintptr_t)s->packed % EMBER_HVX != 0) {
        (void)ember_copy_hvx(scratch + at.weights, s->packed, at.line - at.weights);
    } else {
        return s->packed;
    }
    return scratch + at.weights;
}

#endif // EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_FILTERS_HVX_H
