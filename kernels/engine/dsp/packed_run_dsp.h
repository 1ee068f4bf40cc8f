// SPDX-License-Identifier: Apache-2.0
// Images become the columns of packed_dsp.h, for kernels that define multiply(), which
// is called by its name: a jump in it counts as a call of whatever is known by address.
#ifndef EMBER_KERNELS_ENGINE_DSP_PACKED_RUN_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_PACKED_RUN_DSP_H

#include <stddef.h>

#include "kernels/engine/dsp/packed_dsp.h"
#include "kernels/engine/dsp/products_dsp.h"
#include "kernels/engine/int8/packed_s8.h"

// Multiplies pairs of columns, or one, with all filters, whose sums it makes outputs.
// One piece of code for all callers.
static __attribute__((noinline)) void multiply(const ember_packed_dsp_t *s,
                                               ember_quads_dsp_t *tiles);

// What lies under the taps of an output.
typedef struct {
    const int8_t *from; // tap (0, 0), maybe beside the image
    int32_t y, x;
    ptrdiff_t pitch; // to the next row of taps
    int8_t *to;      // the output
    bool whole;      // it may be read as it lies
} column_t;

// How many columns, from the left edge of an image on, may be read as they lie: their
// taps from row `top` on, and what rows of taps are padded by, end in the image.
static int32_t whole_columns(const ember_packed_dsp_t *s, int32_t top) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const int32_t past = width->in - width->kernel + 1;
    const int32_t rows = height->in - top - height->kernel + 1;
    const int32_t left = top < 0 || rows < 1 ? 0 : rows * width->in * conv->depth;
    const int32_t line = s->fours * EMBER_PACKED_FOUR;
    const int32_t fit = left < line ? 0 : (left - line) / conv->depth + 1;

    return fit < past ? fit : past;
}

// --- columns -------------------------------------------------------------------------

// A column with taps beside the image becomes one in `copy`.
static void copy_clipped(const ember_packed_dsp_t *s, column_t *column, int8_t *copy) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_taps_s8_t down = ember_taps_s8(&conv->height, column->y);
    const ember_taps_s8_t across = ember_taps_s8(&conv->width, column->x);
    const int32_t skipped = across.first * conv->depth;
    const int32_t length = (across.past - across.first) * conv->depth;
    const int32_t line = s->fours * EMBER_PACKED_FOUR;
    const int8_t *from = column->from + down.first * column->pitch + skipped;
    uint32_t *words = (uint32_t *)(void *)copy;

    for (int32_t i = conv->height.kernel * s->fours; i > 0; i--) {
        *words++ = (uint8_t)-conv->x_offset * 0x01010101u;
    }
    for (int32_t ky = down.first; ky < down.past; ky++) {
        memcpy(copy + ky * line + skipped, from, (size_t)length);
        from += column->pitch;
    }
    column->from = copy;
    column->pitch = line;
}

// --- images --------------------------------------------------------------------------

// Two neighbouring columns, or one.
static void run_two(const ember_packed_dsp_t *s, const ember_quads_dsp_t *tiles,
                    const column_t *columns, int32_t count) {
    const int32_t size = s->conv.height.kernel * s->fours * EMBER_PACKED_FOUR;
    ember_quads_dsp_t two = *tiles;

    for (int32_t n = 0; n < EMBER_PACKED_COLUMNS; n++) {
        column_t column = columns[n < count ? n : 0];
        if (!column.whole) {
            copy_clipped(s, &column, s->copies + n * size);
        }
        two.x[n] = column.from;
        two.skip[n] = (int32_t)column.pitch - s->fours * EMBER_PACKED_FOUR;
    }
    two.y[0] = columns[0].to;
    two.y[1] = columns[count - 1].to;
    two.pairs = 1;
    multiply(s, &two);
}

// Whole columns from `x` on, `next` bytes apart; the last one maybe by itself.
static void run_whole(const ember_packed_dsp_t *s, ember_quads_dsp_t *tiles,
                      const int8_t *x, int8_t *y, int32_t pairs) {
    tiles->x[0] = x;
    tiles->x[1] = x + tiles->next / EMBER_PACKED_COLUMNS;
    tiles->y[0] = y;
    tiles->y[1] = y + s->conv.filters;
    tiles->pairs = pairs;
    multiply(s, tiles);
}

static void run_image(const ember_packed_dsp_t *s, ember_quads_dsp_t *tiles,
                      const int8_t *x, int8_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const ptrdiff_t pitch = (ptrdiff_t)width->in * conv->depth;
    column_t columns[EMBER_PACKED_COLUMNS];
    int32_t count = 0;

    for (int32_t oy = 0; oy < height->out; oy++) {
        const int32_t top = oy * height->stride - height->padding;
        const int32_t end = whole_columns(s, top);
        const int8_t *row = x + top * pitch;
        for (int32_t ox = 0; ox < width->out;) {
            const int32_t left = ox * width->stride - width->padding;
            const int8_t *from = row + left * conv->depth;
            const int32_t rest = width->out - ox;
            const bool whole = left >= 0 && left < end;
            const int32_t many = whole ? (end - left - 1) / width->stride + 1 : 0;
            const int32_t pairs = (many < rest ? many : rest) / EMBER_PACKED_COLUMNS;
            if (count == 0 && pairs > 0) {
                run_whole(s, tiles, from, y, pairs);
                ox += EMBER_PACKED_COLUMNS * pairs;
                y += EMBER_PACKED_COLUMNS * pairs * conv->filters;
                continue;
            }
            columns[count++] = (column_t){from, oy, ox++, pitch, y, whole};
            y += conv->filters;
            if (count == EMBER_PACKED_COLUMNS) {
                run_two(s, tiles, columns, count);
                count = 0;
            }
        }
    }
    if (count > 0) {
        run_two(s, tiles, columns, count);
    }
}

// Images whose pixels are the columns.
static void run_flat(const ember_packed_dsp_t *s, ember_quads_dsp_t *tiles) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t pixels = conv->batches * conv->height.in * conv->width.in;
    const int32_t done = pixels & -EMBER_PACKED_COLUMNS;

    if (done > 0) {
        run_whole(s, tiles, conv->x, conv->y, done / EMBER_PACKED_COLUMNS);
    }
    if (done < pixels) {
        const column_t last = {.from = conv->x + done * conv->depth,
                               .to = conv->y + done * conv->filters,
                               .whole = true};
        run_two(s, tiles, &last, 1);
    }
}

static void run_packed(const ember_packed_dsp_t *s, int32_t offset) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t skip = conv->width.in * conv->depth - s->fours * EMBER_PACKED_FOUR;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;
    ember_quads_dsp_t tiles = {
        .w = conv->w,
        .words = s->words,
        .blocks = conv->height.kernel * s->fours,
        .by = s->by,
        .quads = conv->filters / EMBER_PACKED_FOUR,
        .offset = offset,
        .x_offset = ember_both_dsp(conv->x_offset),
        .fours = s->fours,
        .rows = conv->height.kernel,
        .skip = {skip, skip},
        .next = EMBER_PACKED_COLUMNS * conv->width.stride * conv->depth,
        .y_skip = conv->filters,
    };

    if (ember_packed_dsp_is_flat(conv)) {
        run_flat(s, &tiles);
        return;
    }
    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(s, &tiles, x, y);
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->depth;
        y += (ptrdiff_t)conv->height.out * conv->width.out * conv->filters;
    }
}

#endif // EMBER_KERNELS_ENGINE_DSP_PACKED_RUN_DSP_H
