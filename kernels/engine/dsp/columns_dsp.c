// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of columns. Contract: columns_dsp.h.
#include "kernels/engine/dsp/columns_dsp.h"

#include <arm_dsp_columns.h>
#include <stddef.h>

#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4, COLUMNS = EMBER_COLUMNS_DSP, MOST = 1 << 15 }; // elements

// The column of output (y, x).
typedef struct {
    const int8_t *from; // what is under tap (0, 0), maybe beside the image
    int32_t y, x;
} column_t;

// The elements under the taps, in runs that lie side by side.
typedef struct {
    int32_t length; // elements of a run
    int32_t across; // runs of a row
    int32_t step;   // to the next one
    int32_t rows;
    ptrdiff_t pitch; // to the next row
} runs_t;

static runs_t runs_of(const ember_conv_s8_t *conv) {
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const bool in_one = width->dilation == 1;

    return (runs_t){
        .length = in_one ? width->kernel * conv->depth : conv->depth,
        .across = in_one ? 1 : width->kernel,
        .step = width->dilation * conv->depth,
        .rows = height->kernel,
        .pitch = (ptrdiff_t)width->in * conv->depth * height->dilation,
    };
}

// --- columns in the image ------------------------------------------------------------

// One piece of code for all callers.
FAST uint32_t *widen_three(uint32_t *to, const int8_t *a, const int8_t *b,
                           const int8_t *c, int32_t fours, uint32_t offset) {
    return ember_widen_three(to, a, b, c, fours, offset);
}

// Three columns whose runs are fours become words straight from the image.
FAST void widen_runs(const ember_columns_dsp_t *s, const runs_t *runs,
                     const column_t *columns) {
    const uint32_t offset = ember_both_dsp(s->conv.x_offset);
    const int8_t *a = columns[0].from, *b = columns[1].from, *c = columns[2].from;
    const int32_t fours = runs->length / FOUR;
    uint32_t *to = s->words;

    for (int32_t ky = runs->rows; ky > 0; ky--) {
        ptrdiff_t at = 0;
        for (int32_t run = runs->across; run > 0; run--) {
            to = ember_widen_three(to, a + at, b + at, c + at, fours, offset);
            at += runs->step;
        }
        a += runs->pitch;
        b += runs->pitch;
        c += runs->pitch;
    }
}

FAST void copy_small(int8_t *to, const int8_t *from, int32_t length, int32_t count,
                     int32_t step) {
    for (; count > 0; count--) {
        for (int32_t i = 0; i < length; i++) {
            *to++ = from[i];
        }
        from += step;
    }
}

// Runs of rows that follow each other, `line` elements apart there.
static void copy_runs(int8_t *to, const int8_t *from, const runs_t *runs,
                      int32_t line) {
    if (runs->across == 1 && runs->length == line && line >= FOUR && runs->rows > 0) {
        ember_copy_runs_dsp(to, from, line, (int32_t)runs->pitch, runs->rows);
        return;
    }
    for (int32_t rows = runs->rows; rows > 0; rows--) {
        if (runs->length < FOUR) {
            copy_small(to, from, runs->length, runs->across, runs->step);
        } else if (runs->across > 0) {
            ember_copy_runs_dsp(to, from, runs->length, runs->step, runs->across);
        }
        from += runs->pitch;
        to += line;
    }
}

// --- columns at the border -----------------------------------------------------------

FAST void fill(uint32_t *to, int32_t step, int32_t count, uint32_t word) {
    for (; count > 0; count--) {
        *to = word;
        to += step;
    }
}

// A line of fours becomes words of one column.
FAST void widen(uint32_t *to, const int8_t *from, int32_t fours, uint32_t offset) {
    for (; fours > 0; fours--) {
        const uint32_t word = ember_ldr_next(&from);
        to[0] = ember_sxtab16(offset, word);
        to[COLUMNS] = ember_sxtab16_odd(offset, word);
        to += 2 * COLUMNS;
    }
}

// Column `n`: what lies inside the image, at the taps that are; the rest is 0.
static __attribute__((noinline)) void make_clipped(const ember_columns_dsp_t *s,
                                                   const runs_t *whole,
                                                   const column_t *column, int32_t n) {
    const ember_conv_s8_t *conv = &s->conv;
    const uint32_t offset = ember_both_dsp(conv->x_offset);
    const ember_taps_s8_t down = ember_taps_s8(&conv->height, column->y);
    const ember_taps_s8_t across = ember_taps_s8(&conv->width, column->x);
    const int32_t taps = across.past - across.first;
    const int32_t line = conv->width.kernel * conv->depth;
    const int32_t to = down.first * line + across.first * conv->depth;
    const int8_t *from = column->from + down.first * whole->pitch +
                         (ptrdiff_t)across.first * whole->step;
    runs_t runs = *whole;

    runs.rows = down.past - down.first;
    if (conv->width.dilation == 1) {
        runs.length = taps * conv->depth;
    } else {
        runs.across = taps;
    }
    if (s->copies != NULL) {
        int8_t *copy = s->copies + n * s->fours * FOUR;
        fill((uint32_t *)(void *)copy, 1, s->fours,
             (uint8_t)-conv->x_offset * 0x01010101u);
        copy_runs(copy + to, from, &runs, line);
        return;
    }
    fill(s->words + n, COLUMNS, 2 * s->fours, 0);
    for (int32_t ky = 0; ky < runs.rows; ky++) {
        for (int32_t run = 0; run < runs.across; run++) {
            const int32_t at = (to + ky * line + run * conv->depth) / FOUR;
            widen(s->words + at * 2 * COLUMNS + n, from + run * runs.step,
                  runs.length / FOUR, offset);
        }
        from += runs.pitch;
    }
}

// --- images --------------------------------------------------------------------------

// Copies three columns that lie inside the image.
FAST void copy_columns(const ember_columns_dsp_t *s, const runs_t *runs,
                       const column_t *columns) {
    const int32_t pitch = s->fours * FOUR;
    const int32_t line = s->conv.width.kernel * s->conv.depth;

    for (int32_t n = 0; n < COLUMNS; n++) {
        copy_runs(s->copies + n * pitch, columns[n].from, runs, line);
    }
}

static void make_columns(const ember_columns_dsp_t *s, const runs_t *runs,
                         const column_t *columns, bool whole) {
    const int32_t pitch = s->fours * FOUR;
    const int8_t *copies = s->copies;

    if (!whole) {
        for (int32_t n = 0; n < COLUMNS; n++) {
            make_clipped(s, runs, &columns[n], n);
        }
    } else if (copies == NULL) {
        widen_runs(s, runs, columns);
    } else {
        copy_columns(s, runs, columns);
    }
    if (copies != NULL) {
        widen_three(s->words, copies, copies + pitch, copies + 2 * pitch, s->fours,
                    ember_both_dsp(s->conv.x_offset));
    }
}

// Whether a single column may do without the two that three lack.
FAST bool takes_one(const ember_columns_dsp_t *s) {
    return s->last == NULL && s->conv.filters % FOUR == 0;
}

// Three columns become outputs; those that lack are the first one again.
static void run_columns(const ember_columns_dsp_t *s, ember_columns_tiles_t *tiles,
                        const runs_t *runs, const column_t *columns, bool whole,
                        int8_t *const y[COLUMNS]) {
    make_columns(s, runs, columns, whole);
    if (y[0] == y[1] && takes_one(s)) {
        ember_columns_dsp_one(s, tiles->ending, y[0]);
    } else {
        ember_columns_dsp_filters(s, tiles, y);
    }
}

// The columns of one image become outputs, three at a time.
FAST void run_image(const ember_columns_dsp_t *s, ember_columns_tiles_t *tiles,
                    const int8_t *x, int8_t *y, const ember_steps_s8_t *steps) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const runs_t runs = runs_of(conv);
    const ptrdiff_t pitch = (ptrdiff_t)width->in * conv->depth;
    const int32_t past = width->in - (width->kernel - 1) * width->dilation;
    const int32_t next = width->stride * conv->depth;
    column_t columns[COLUMNS];
    int8_t *to[COLUMNS];
    int32_t count = 0;
    bool whole = true;

    for (int32_t oy = 0; oy < height->out; oy++) {
        const ember_taps_s8_t down = ember_taps_s8(height, oy);
        const bool inside = s->inner > 0 && down.past - down.first == height->kernel;
        const int8_t *from = x + (oy * height->stride - height->padding) * pitch -
                             width->padding * conv->depth;
        int8_t *out = y + oy * steps->row;
        int32_t at = -width->padding;
        for (int32_t ox = 0; ox < width->out; ox++) {
            whole = whole && inside && at >= 0 && at < past;
            columns[count] = (column_t){from, oy, ox};
            to[count++] = out;
            out += steps->column;
            from += next;
            at += width->stride;
            if (count == COLUMNS) {
                run_columns(s, tiles, &runs, columns, whole, to);
                count = 0;
                whole = true;
            }
        }
    }
    if (count > 0) { // columns that lack are the first one again
        for (; count < COLUMNS; count++) {
            columns[count] = columns[0];
            to[count] = to[0];
        }
        run_columns(s, tiles, &runs, columns, whole, to);
    }
}

// Whether pixels of the image are the columns, one after the other.
static bool is_flat(const ember_columns_dsp_t *s, const ember_steps_s8_t *steps) {
    const ember_conv_s8_t *conv = &s->conv;

    return s->copies == NULL && s->inner > 0 && ember_conv_s8_is_direct(conv) &&
           conv->height.stride == 1 && conv->width.stride == 1 &&
           conv->height.out == conv->height.in && conv->width.out == conv->width.in &&
           steps->row == conv->width.out * steps->column;
}

// The same of an image whose pixels are the columns; those that lack at its end are the
// first one again.
FAST void run_flat(const ember_columns_dsp_t *s, ember_columns_tiles_t *tiles,
                   const int8_t *x, int8_t *y, int32_t step) {
    const uint32_t offset = ember_both_dsp(s->conv.x_offset);
    const int32_t inner = s->inner;

    for (int32_t left = s->conv.height.out * s->conv.width.out; left > 0;
         left -= COLUMNS) {
        const int32_t second = left > 1 ? 1 : 0, third = left > 2 ? 2 : 0;
        int8_t *const to[COLUMNS] = {y, y + second * step, y + third * step};
        widen_three(s->words, x, x + second * inner, x + third * inner, s->fours,
                    offset);
        if (left == 1 && takes_one(s)) {
            ember_columns_dsp_one(s, tiles->ending, y);
        } else {
            ember_columns_dsp_filters(s, tiles, to);
        }
        x += COLUMNS * inner;
        y += COLUMNS * step;
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

SMALL void ember_columns_dsp_run(const ember_columns_dsp_t *s, ember_steps_s8_t steps,
                                 const ember_ending_dsp_t *ending) {
    const ember_conv_s8_t *conv = &s->conv;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;
    ember_columns_tiles_t tiles;

    if (s->turned != NULL) {
        turn(s);
    }
    if (s->copies != NULL) {
        fill((uint32_t *)(void *)s->copies, 1, COLUMNS * s->fours,
             (uint8_t)-conv->x_offset * 0x01010101u);
    }
    ember_columns_dsp_set_tiles(s, &tiles, ending);
    const bool flat = is_flat(s, &steps);
    for (int32_t n = 0; n < conv->batches; n++) {
        if (flat) {
            run_flat(s, &tiles, x, y, steps.column);
        } else {
            run_image(s, &tiles, x, y, &steps);
        }
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->depth;
        y += steps.image;
    }
}

// --- preparing -----------------------------------------------------------------------

SMALL void ember_columns_dsp_measure(ember_columns_dsp_t *s) {
    s->inner = (int32_t)ember_conv_s8_taps(&s->conv) * s->conv.depth;
    s->fours = s->inner == 0 ? 1 : (s->inner + FOUR - 1) / FOUR;
}

// Scratch: words, what scales the filters, copies, the last filters, turned weights.
static void set_scratch(ember_columns_dsp_t *s, ember_node_t *node,
                        ember_weights_s8_t from) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t rows = conv->filters > 1 ? conv->filters : 2;
    const int32_t padded = s->fours * FOUR;
    const int32_t words = padded * COLUMNS * (int32_t)sizeof(int16_t);
    const int32_t by = rows * (int32_t)sizeof(*s->by);
    const int32_t copies = conv->depth % FOUR == 0 ? 0 : COLUMNS * padded;
    const int32_t last = conv->depth % FOUR == 0 ? 0 : 2 * padded;
    const int32_t weights = from == EMBER_WEIGHTS_PLAIN ? 0 : conv->filters * s->inner;
    const int32_t size = words + by + copies + last + weights;
    int8_t *scratch = ember_node_scratch(node, (size_t)size);

    if (scratch == NULL) {
        return;
    }
    s->words = (uint32_t *)(void *)scratch;
    s->by = (ember_filter_dsp_t *)(void *)(scratch + words);
    scratch += words + by;
    s->copies = copies > 0 ? scratch : NULL;
    s->last = last > 0 ? scratch + copies : NULL;
    s->turned = weights > 0 ? scratch + copies + last : NULL;
    s->w = weights > 0 ? s->turned : conv->w;
}

// Whether each column is one pixel, whose outputs take its place when it is words.
static bool runs_over(const ember_conv_s8_t *conv, ember_weights_s8_t weights) {
    return weights == EMBER_WEIGHTS_PLAIN && ember_conv_s8_is_direct(conv) &&
           conv->depth % FOUR == 0;
}

SMALL ember_status_t ember_columns_dsp_prepare(ember_columns_dsp_t *s,
                                               ember_node_t *node, int64_t taps,
                                               ember_weights_s8_t weights) {
    const ember_conv_s8_t *conv = &s->conv;
    const int64_t inner = taps > MOST ? taps : taps * conv->depth;

    if (conv->depth != conv->channels || inner > MOST || conv->filters > MOST ||
        conv->x_offset < -INT8_MAX || !ember_scales_fit_dsp(conv, inner) ||
        (conv->over && !runs_over(conv, weights))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with DSP");
    }
    s->inner = (int32_t)inner;
    s->fours = (s->inner + FOUR - 1) / FOUR;
    set_scratch(s, node, weights);
    return ember_node_status(node);
}
