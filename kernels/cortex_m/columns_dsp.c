// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of columns. Contract: columns_dsp.h.
#include "kernels/cortex_m/columns_dsp.h"

#include <stddef.h>

#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = 4, COLUMNS = EMBER_COLUMNS_DSP, MOST = 1 << 15 }; // elements

// Runs of elements that become words of a column, their offset added.
typedef struct {
    const int8_t *from;
    ptrdiff_t pitch; // to the next run
    uint32_t *to;
    ptrdiff_t step; // in words
    int32_t fours;
    int32_t count;
    uint32_t offset;
} runs_t;

INLINE uint32_t *widen_four(uint32_t *to, uint32_t offset, uint32_t word) {
    to[0] = ember_sxtab16(offset, word);
    to[COLUMNS] = ember_sxtab16_odd(offset, word);
    return to + 2 * COLUMNS;
}

FAST void widen(runs_t runs) {
    for (; runs.count > 0; runs.count--) {
        const int8_t *from = runs.from;
        uint32_t *to = runs.to;
        int32_t left = runs.fours;
        for (; left >= 4; left -= 4) {
            const uint32_t a = ember_ldr_next(&from), b = ember_ldr_next(&from);
            const uint32_t c = ember_ldr_next(&from), d = ember_ldr_next(&from);
            to = widen_four(to, runs.offset, a);
            to = widen_four(to, runs.offset, b);
            to = widen_four(to, runs.offset, c);
            to = widen_four(to, runs.offset, d);
        }
        for (; left > 0; left--) {
            to = widen_four(to, runs.offset, ember_ldr_next(&from));
        }
        runs.from += runs.pitch;
        runs.to += runs.step;
    }
}

FAST void clear(uint32_t *to, int32_t fours) {
    for (; fours > 1; fours -= 2) {
        to[0] = to[COLUMNS] = to[2 * COLUMNS] = to[3 * COLUMNS] = 0;
        to += 4 * COLUMNS;
    }
    if (fours > 0) {
        to[0] = to[COLUMNS] = 0;
    }
}

// A column that lies at `from` becomes words; what lacks to a four is 0.
static void widen_all(const ember_columns_dsp_t *s, uint32_t *to, const int8_t *from) {
    const uint32_t offset = ember_both_dsp(s->conv.x_offset);
    const int32_t fours = s->inner / FOUR, rest = s->inner % FOUR;

    widen((runs_t){from, 0, to, 0, fours, 1, offset});
    if (rest > 0) {
        const uint32_t none = (uint8_t)-s->conv.x_offset * 0x01010101u;
        widen_four(to + fours * 2 * COLUMNS, offset,
                   ember_part_dsp(from + fours * FOUR, rest) | none << 8 * rest);
    }
}

FAST void copy_bytes(int8_t *to, const int8_t *from, int32_t count) {
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

// The column of output `ox` becomes words straight from the image, whose depth is a
// multiple of four. What lies beside it is 0.
static void widen_taps(const ember_columns_dsp_t *s, const row_t *row, int32_t ox,
                       uint32_t *to) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *width = &conv->width;
    const ember_taps_s8_t across = ember_taps_s8(width, ox);
    const int32_t taps = across.past - across.first;
    const int32_t rows = row->down.past - row->down.first;
    const int32_t tap = conv->depth / FOUR, step = width->dilation * conv->depth;
    const int32_t line = width->kernel * tap;
    const int32_t at = ox * width->stride - width->padding;
    const bool in_one = width->dilation == 1;
    runs_t runs = {
        .from = row->x + (ptrdiff_t)at * conv->depth + across.first * step,
        .pitch = (ptrdiff_t)width->in * conv->depth * conv->height.dilation,
        .to = to + (row->down.first * line + across.first * tap) * 2 * COLUMNS,
        .step = line * 2 * COLUMNS,
        .fours = in_one ? taps * tap : tap,
        .count = rows,
        .offset = ember_both_dsp(conv->x_offset),
    };

    if (taps < width->kernel || rows < conv->height.kernel) {
        clear(to, s->inner / FOUR);
    }
    for (int32_t run = in_one ? taps > 0 : taps; run > 0; run--) {
        widen(runs);
        runs.from += step;
        runs.to += tap * 2 * COLUMNS;
    }
}

// Makes column `n` of the words, that of output `ox`.
static void make_column(const ember_columns_dsp_t *s, const row_t *row, int32_t ox,
                        int32_t n) {
    uint32_t *to = s->words + n;

    if (s->direct) {
        widen_all(s, to, row->x + (ptrdiff_t)ox * s->conv.width.stride * s->conv.depth);
    } else if (s->copy == NULL) {
        widen_taps(s, row, ox, to);
    } else {
        copy_column(s, row, ox);
        widen_all(s, to, s->copy);
    }
}

// The columns of one image become outputs, three at a time.
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
            to[count] = next;
            next += steps.column;
            make_column(s, &row, ox, count++);
            if (count == COLUMNS) {
                ember_columns_dsp_filters(s, to);
                count = 0;
            }
        }
    }
    if (count > 0) { // the outputs of columns that lack are written over
        to[1] = count > 1 ? to[1] : to[0];
        to[2] = to[0];
        ember_columns_dsp_filters(s, to);
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

SMALL void ember_columns_dsp_run(const ember_columns_dsp_t *s, ember_steps_s8_t steps) {
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

// Scratch: words, sums, turned weights, a column.
static void set_scratch(ember_columns_dsp_t *s, ember_node_t *node,
                        ember_weights_s8_t from) {
    const ember_conv_s8_t *conv = &s->conv;
    const bool turned = from != EMBER_WEIGHTS_PLAIN;
    const int32_t fours = (s->inner + FOUR - 1) / FOUR;
    const int32_t paired = (conv->filters + 1) & -2;
    const int32_t tile = paired < EMBER_TILE_DSP ? paired : EMBER_TILE_DSP;
    const int32_t words = fours * 2 * COLUMNS * (int32_t)sizeof(uint32_t);
    const int32_t sums = tile * COLUMNS * (int32_t)sizeof(int32_t);
    const int32_t weights = turned ? conv->filters * s->inner : 0;
    const bool direct = from != EMBER_WEIGHTS_MADE && ember_conv_s8_is_direct(conv);
    const bool copied = !direct && conv->depth % FOUR != 0;
    const int32_t copy = copied ? s->inner : 0;
    int8_t *scratch = ember_node_scratch(node, (size_t)(words + sums + weights + copy));

    s->direct = direct;
    s->words = (uint32_t *)(void *)scratch;
    s->sums = scratch == NULL ? NULL : (int32_t *)(void *)(scratch + words);
    s->turned = turned && scratch != NULL ? scratch + words + sums : NULL;
    s->copy = !copied || scratch == NULL ? NULL : scratch + words + sums + weights;
    s->w = turned ? s->turned : conv->w;
}

SMALL ember_status_t ember_columns_dsp_prepare(ember_columns_dsp_t *s,
                                               ember_node_t *node, int64_t taps,
                                               ember_weights_s8_t weights) {
    const ember_conv_s8_t *conv = &s->conv;
    const int64_t inner = taps > MOST ? taps : taps * conv->depth;

    if (conv->depth != conv->channels || inner > MOST || conv->filters > MOST ||
        conv->x_offset < -INT8_MAX ||
        !ember_sums_fit_dsp(conv->scales.bias, conv->filters, inner) ||
        !ember_shifts_within(&conv->scales, conv->filters, EMBER_SHIFT_MIN_DSP,
                             EMBER_SHIFT_MAX_DSP)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with DSP");
    }
    s->inner = (int32_t)inner;
    set_scratch(s, node, weights);
    return ember_node_status(node);
}
