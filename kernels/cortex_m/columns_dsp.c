// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of columns. Contract: columns_dsp.h.
#include "kernels/cortex_m/columns_dsp.h"

#include <stddef.h>

#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = 4, COLUMNS = EMBER_COLUMNS_DSP, MOST = 1 << 15 }; // elements

// Sums of one filter with four columns.
typedef struct {
    int32_t a, b, c, d;
} sums_t;

// Adds the products of four weights; returns where the next elements are.
INLINE const uint32_t *add_four(sums_t *sums, uint32_t w, const uint32_t *x) {
    const uint32_t even = ember_sxtb16(w), odd = ember_sxtb16_odd(w);
    uint32_t words[COLUMNS];

    x = ember_ldm4(x, words);
    sums->a = ember_smlad(even, words[0], sums->a);
    sums->b = ember_smlad(even, words[1], sums->b);
    sums->c = ember_smlad(even, words[2], sums->c);
    sums->d = ember_smlad(even, words[3], sums->d);
    x = ember_ldm4(x, words);
    sums->a = ember_smlad(odd, words[0], sums->a);
    sums->b = ember_smlad(odd, words[1], sums->b);
    sums->c = ember_smlad(odd, words[2], sums->c);
    sums->d = ember_smlad(odd, words[3], sums->d);
    return x;
}

// From the outputs of the first column to those of the others.
typedef struct {
    int32_t b, c, d;
} steps_t;

INLINE void store(int8_t *y, steps_t steps, sums_t sums, ember_scale_dsp_t by) {
    y[0] = (int8_t)ember_scaled_dsp(sums.a, by);
    y[steps.b] = (int8_t)ember_scaled_dsp(sums.b, by);
    y[steps.c] = (int8_t)ember_scaled_dsp(sums.c, by);
    y[steps.d] = (int8_t)ember_scaled_dsp(sums.d, by);
}

INLINE void limit(int8_t *y, steps_t steps, ember_limits_s8_t limits) {
    y[0] = ember_limit_s8(y[0], limits);
    y[steps.b] = ember_limit_s8(y[steps.b], limits);
    y[steps.c] = ember_limit_s8(y[steps.c], limits);
    y[steps.d] = ember_limit_s8(y[steps.d], limits);
}

// All filters with the columns.
static __attribute__((noinline)) void run_filters(const ember_columns_dsp_t *s,
                                                  int8_t *y, steps_t steps) {
    const ember_scales_s8_t scales = s->conv.scales;
    const int32_t fours = s->inner / FOUR, rest = s->inner % FOUR;
    const bool limited = scales.limits.low > INT8_MIN || scales.limits.high < INT8_MAX;
    const int32_t filters = s->conv.filters;
    const int8_t *w = s->w;

    for (int32_t f = 0; f < filters; f++) {
        const int32_t first = scales.bias == NULL ? 0 : scales.bias[f];
        sums_t sums = {first, first, first, first};
        const uint32_t *x = s->words;
        const int8_t *end = w + fours * FOUR;
        while (w != end) {
            x = add_four(&sums, ember_word_dsp(w), x);
            w += FOUR;
        }
        if (rest > 0) {
            (void)add_four(&sums, ember_part_dsp(w, rest), x);
            w += rest;
        }
        const ember_scale_dsp_t by =
            ember_scale_dsp(scales.multipliers[f], scales.shifts[f], scales.zero_point);
        store(y, steps, sums, by);
        if (limited) {
            limit(y, steps, scales.limits);
        }
        y++;
    }
}

// Makes column `n` of the words.
static void widen(const ember_columns_dsp_t *s, const int8_t *from, int32_t n) {
    const uint32_t offset = ember_both_dsp(s->conv.x_offset);
    const int32_t rest = s->inner % FOUR;
    uint32_t *to = s->words + n;

    for (int32_t left = s->inner / FOUR; left > 0; left--) {
        const uint32_t word = ember_word_dsp(from);
        to[0] = ember_sxtab16(offset, word);
        to[COLUMNS] = ember_sxtab16_odd(offset, word);
        from += FOUR;
        to += 2 * COLUMNS;
    }
    if (rest > 0) {
        const uint32_t word = ember_part_dsp(from, rest);
        to[0] = ember_sxtab16(offset, word);
        to[COLUMNS] = ember_sxtab16_odd(offset, word);
    }
}

static void copy_bytes(int8_t *to, const int8_t *from, int32_t count) {
    for (; count >= FOUR; count -= FOUR) {
        const uint32_t word = ember_word_dsp(from);
        memcpy(to, &word, sizeof(word));
        from += FOUR;
        to += FOUR;
    }
    for (; count > 0; count--) {
        *to++ = *from++;
    }
}

// What the outputs of a row have in common.
typedef struct {
    const int8_t *x; // the row of the image under the first of the taps inside
    ember_taps_s8_t down;
} row_t;

// Copies the column of output `ox`, with the zero point where taps lie beside the
// image.
static void copy_column(const ember_columns_dsp_t *s, const row_t *row, int32_t ox) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *width = &conv->width;
    const ember_taps_s8_t across = ember_taps_s8(width, ox);
    const int32_t taps = across.past - across.first;
    const int32_t rows = row->down.past - row->down.first;
    const int32_t line = width->kernel * conv->depth;
    const int32_t step = width->dilation * conv->depth;
    const ptrdiff_t pitch = (ptrdiff_t)width->in * conv->depth * conv->height.dilation;
    const int32_t at = ox * width->stride - width->padding;
    const int8_t *from = row->x + (ptrdiff_t)at * conv->depth + across.first * step;
    int8_t *to = s->copy + row->down.first * line + across.first * conv->depth;

    if (taps < width->kernel || rows < conv->height.kernel) {
        memset(s->copy, -conv->x_offset, (size_t)s->inner);
    }
    for (int32_t ky = 0; ky < rows; ky++) {
        if (width->dilation == 1) {
            copy_bytes(to, from, taps * conv->depth);
        } else {
            for (int32_t kx = 0; kx < taps; kx++) {
                copy_bytes(to + kx * conv->depth, from + kx * step, conv->depth);
            }
        }
        from += pitch;
        to += line;
    }
}

// Columns that lack behind the last `count` ones are the first one again.
static void repeat(const ember_columns_dsp_t *s, int8_t *y[COLUMNS], int32_t count) {
    const int32_t words = (s->inner + FOUR - 1) / FOUR * 2;

    for (int32_t i = 0; i < words; i++) {
        for (int32_t n = count; n < COLUMNS; n++) {
            s->words[i * COLUMNS + n] = s->words[i * COLUMNS];
        }
    }
    for (int32_t n = count; n < COLUMNS; n++) {
        y[n] = y[0];
    }
}

INLINE void run_columns(const ember_columns_dsp_t *s, int8_t *const y[COLUMNS]) {
    const steps_t steps = {(int32_t)(y[1] - y[0]), (int32_t)(y[2] - y[0]),
                           (int32_t)(y[3] - y[0])};
    run_filters(s, y[0], steps);
}

// The columns of one image become outputs, four at a time.
static void run_image(const ember_columns_dsp_t *s, const int8_t *x, int8_t *y,
                      ember_steps_s8_t steps) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const ptrdiff_t pitch = (ptrdiff_t)width->in * conv->depth;
    int8_t *to[COLUMNS];
    int32_t count = 0;

    for (int32_t oy = 0; oy < height->out; oy++) {
        row_t row = {NULL, ember_taps_s8(height, oy)};
        int8_t *next = y + oy * steps.row;
        row.x = x + (oy * height->stride - height->padding +
                     row.down.first * height->dilation) *
                        pitch;
        for (int32_t ox = 0; ox < width->out; ox++) {
            const int8_t *column = row.x + (ptrdiff_t)ox * width->stride * conv->depth;
            if (s->copy != NULL) {
                copy_column(s, &row, ox);
                column = s->copy;
            }
            to[count] = next;
            next += steps.column;
            widen(s, column, count++);
            if (count == COLUMNS) {
                run_columns(s, to);
                count = 0;
            }
        }
    }
    if (count > 0) {
        repeat(s, to, count);
        run_columns(s, to);
    }
}

// Makes (filters, inner) of (inner, filters).
static void turn(const ember_columns_dsp_t *s) {
    const int8_t *from = s->conv.w;

    for (int32_t k = 0; k < s->inner; k++) {
        int8_t *to = s->turned + k;
        for (int32_t f = 0; f < s->conv.filters; f++) {
            *to = *from++;
            to += s->inner;
        }
    }
}

void ember_columns_dsp_run(const ember_columns_dsp_t *s, ember_steps_s8_t steps) {
    const ember_conv_s8_t *conv = &s->conv;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;

    if (s->turned != NULL) {
        turn(s);
    }
    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(s, x, y, steps);
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->depth;
        y += steps.image;
    }
}

// Scratch: words, turned weights, a column.
static void set_scratch(ember_columns_dsp_t *s, ember_node_t *node,
                        ember_weights_s8_t from) {
    const ember_conv_s8_t *conv = &s->conv;
    const bool turned = from != EMBER_WEIGHTS_PLAIN;
    const bool direct = from != EMBER_WEIGHTS_MADE && ember_conv_s8_is_direct(conv);
    const int32_t fours = (s->inner + FOUR - 1) / FOUR;
    const int32_t words = fours * 2 * COLUMNS * (int32_t)sizeof(uint32_t);
    const int32_t weights = turned ? conv->filters * s->inner : 0;
    const int32_t copy = direct ? 0 : s->inner;
    int8_t *scratch = ember_node_scratch(node, (size_t)(words + weights + copy));

    s->words = (uint32_t *)(void *)scratch;
    s->turned = turned && scratch != NULL ? scratch + words : NULL;
    s->copy = direct || scratch == NULL ? NULL : scratch + words + weights;
    s->w = turned ? s->turned : conv->w;
}

ember_status_t ember_columns_dsp_prepare(ember_columns_dsp_t *s, ember_node_t *node,
                                         int64_t taps, ember_weights_s8_t weights) {
    const ember_conv_s8_t *conv = &s->conv;
    const int64_t inner = taps > MOST ? taps : taps * conv->depth;

    if (conv->depth != conv->channels || inner > MOST || conv->filters > MOST ||
        conv->x_offset < -INT8_MAX ||
        !ember_sums_fit_dsp(conv->scales.bias, conv->filters, inner) ||
        !ember_shifts_within(&conv->scales, conv->filters, EMBER_SHIFT_MIN_DSP,
                             EMBER_SHIFT_MAX_DSP)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: not for DSP");
    }
    s->inner = (int32_t)inner;
    set_scratch(s, node, weights);
    return ember_node_status(node);
}
