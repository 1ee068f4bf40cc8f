// SPDX-License-Identifier: Apache-2.0
// packed_conv2d_s8_dsp: with the DSP instructions. The elements under the taps of two
// outputs lie side by side in scratch as int16, their offset added, and are multiplied
// with four filters after the other.
#include <arm_dsp_quads.h>
#include <stddef.h>

#include "kernels/cortex_m/packed_s8.h"
#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = EMBER_PACKED_FOUR, COLUMNS = 2, PAIR = 2 };

typedef struct {
    ember_conv_s8_t conv;
    uint32_t *words;      // (fours, even or odd, column) pairs of int16
    ember_quad_dsp_t *by; // (quads,)
    int8_t *copies;       // (column, rows of taps, fours): where taps are beside images
    int32_t fours;        // of a row of taps
} state_t;

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
static int32_t whole_columns(const state_t *s, int32_t top) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const int32_t past = width->in - width->kernel + 1;
    const int32_t rows = height->in - top - height->kernel + 1;
    const int32_t left = top < 0 || rows < 1 ? 0 : rows * width->in * conv->depth;
    const int32_t line = s->fours * FOUR;
    const int32_t fit = left < line ? 0 : (left - line) / conv->depth + 1;

    return fit < past ? fit : past;
}

// --- columns -------------------------------------------------------------------------

// A column with taps beside the image becomes one in `copy`.
static void copy_clipped(const state_t *s, column_t *column, int8_t *copy) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_taps_s8_t down = ember_taps_s8(&conv->height, column->y);
    const ember_taps_s8_t across = ember_taps_s8(&conv->width, column->x);
    const int32_t skipped = across.first * conv->depth;
    const int32_t length = (across.past - across.first) * conv->depth;
    const int32_t line = s->fours * FOUR;
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

// --- products ------------------------------------------------------------------------

INLINE void set_scale(const ember_scales_s8_t *scales, int32_t f,
                      ember_quad_dsp_t *quad, int32_t place) {
    const ember_filter_dsp_t by =
        ember_filter_dsp(0, scales->multipliers[f], scales->shifts[f]);

    quad->by[place].multiplier = by.multiplier;
    quad->by[place].power = ember_power_dsp(by);
}

static void set_filters(const state_t *s) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const int32_t *bias = scales->bias;
    ember_quad_dsp_t *quad = s->by;

    for (int32_t f = 0; f < s->conv.filters; f += PAIR) {
        const int32_t pair = f % FOUR;
        const int32_t first = bias == NULL ? 0 : bias[f];
        const int32_t second = bias == NULL ? 0 : bias[f + 1];
        quad->bias[pair] = (int32_t)((uint32_t)first + ((uint32_t)second << 8));
        quad->bias[pair + 1] = second;
        set_scale(scales, f, quad, pair);
        set_scale(scales, f + 1, quad, pair + 1);
        quad += pair / PAIR;
    }
}

// --- images --------------------------------------------------------------------------

// Pairs of columns: `columns` outputs from `y` on, which lie side by side; of the last
// pair maybe one. One piece of code for all callers.
static __attribute__((noinline)) void run_pairs(ember_quads_dsp_t *tiles, int8_t *y,
                                                int32_t columns,
                                                ember_limits_s8_t limits) {
    const int32_t count = FOUR * tiles->quads * columns;

    tiles->y[0] = y;
    ember_quads_dsp(tiles);
    if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
        for (int32_t i = 0; i < count; i++) {
            y[i] = ember_limit_s8(y[i], limits);
        }
    }
}

// Two neighbouring columns, or one.
static void run_two(const state_t *s, const ember_quads_dsp_t *tiles,
                    const column_t *columns, int32_t count) {
    const int32_t size = s->conv.height.kernel * s->fours * FOUR;
    const ember_limits_s8_t limits = s->conv.scales.limits;
    ember_quads_dsp_t two = *tiles;

    for (int32_t n = 0; n < COLUMNS; n++) {
        column_t column = columns[n < count ? n : 0];
        if (!column.whole) {
            copy_clipped(s, &column, s->copies + n * size);
        }
        two.x[n] = column.from;
        two.skip[n] = (int32_t)column.pitch - s->fours * FOUR;
    }
    two.y[1] = columns[count - 1].to;
    two.pairs = 1;
    run_pairs(&two, columns[0].to, count, limits);
}

// Whole columns from `x` on, `next` bytes apart; the last one maybe by itself.
static void run_whole(const state_t *s, ember_quads_dsp_t *tiles, const int8_t *x,
                      int8_t *y, int32_t pairs) {
    tiles->x[0] = x;
    tiles->x[1] = x + tiles->next / COLUMNS;
    tiles->y[1] = y + s->conv.filters;
    tiles->pairs = pairs;
    run_pairs(tiles, y, COLUMNS * pairs, s->conv.scales.limits);
}

static void run_image(const state_t *s, ember_quads_dsp_t *tiles, const int8_t *x,
                      int8_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const ptrdiff_t pitch = (ptrdiff_t)width->in * conv->depth;
    column_t columns[COLUMNS];
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
            const int32_t pairs = (many < rest ? many : rest) / COLUMNS;
            if (count == 0 && pairs > 0) {
                run_whole(s, tiles, from, y, pairs);
                ox += COLUMNS * pairs;
                y += COLUMNS * pairs * conv->filters;
                continue;
            }
            columns[count++] = (column_t){from, oy, ox++, pitch, y, whole};
            y += conv->filters;
            if (count == COLUMNS) {
                run_two(s, tiles, columns, count);
                count = 0;
            }
        }
    }
    if (count > 0) {
        run_two(s, tiles, columns, count);
    }
}

static bool is_flat(const ember_conv_s8_t *conv) {
    return ember_conv_s8_is_direct(conv) && conv->depth % FOUR == 0 &&
           conv->height.stride == 1 && conv->width.stride == 1;
}

// Images whose pixels are the columns.
static void run_flat(const state_t *s, ember_quads_dsp_t *tiles) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t pixels = conv->batches * conv->height.in * conv->width.in;
    const int32_t done = pixels & -COLUMNS;

    if (done > 0) {
        run_whole(s, tiles, conv->x, conv->y, done / COLUMNS);
    }
    if (done < pixels) {
        const column_t last = {.from = conv->x + done * conv->depth,
                               .to = conv->y + done * conv->filters,
                               .whole = true};
        run_two(s, tiles, &last, 1);
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t skip = conv->width.in * conv->depth - s->fours * FOUR;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;
    ember_quads_dsp_t tiles = {
        .w = conv->w,
        .words = s->words,
        .blocks = conv->height.kernel * s->fours,
        .by = s->by,
        .quads = conv->filters / FOUR,
        .offset = 2 * conv->scales.zero_point + 1,
        .x_offset = ember_both_dsp(conv->x_offset),
        .fours = s->fours,
        .rows = conv->height.kernel,
        .skip = {skip, skip},
        .next = COLUMNS * conv->width.stride * conv->depth,
        .y_skip = conv->filters,
    };

    set_filters(s);
    if (is_flat(conv)) {
        run_flat(s, &tiles);
        return EMBER_OK;
    }
    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(s, &tiles, x, y);
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->depth;
        y += (ptrdiff_t)conv->height.out * conv->width.out * conv->filters;
    }
    return EMBER_OK;
}

// --- preparing -----------------------------------------------------------------------

// Scratch: words, what scales the filters, copies.
SMALL static void set_scratch(state_t *s, ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t size = conv->height.kernel * s->fours * FOUR;
    const int32_t words = size * COLUMNS * (int32_t)sizeof(int16_t);
    const int32_t by = conv->filters / FOUR * (int32_t)sizeof(*s->by);
    const int32_t copies = is_flat(conv) ? 0 : COLUMNS * size;
    int8_t *scratch = ember_node_scratch(node, (size_t)(words + by + copies));

    if (scratch != NULL) {
        s->words = (uint32_t *)(void *)scratch;
        s->by = (ember_quad_dsp_t *)(void *)(scratch + words);
        s->copies = scratch + words + by;
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const ember_conv_s8_t *conv = &s->conv;
    const ember_status_t status = ember_packed_s8_args(&s->conv, node, &s->fours);

    if (status != EMBER_OK) {
        return status;
    }
    const int64_t inner = (int64_t)conv->height.kernel * s->fours * FOUR;
    if (conv->x_offset < -INT8_MAX || !ember_scales_fit_dsp(conv, inner) ||
        conv->rows != EMBER_ROWS_NORMAL || conv->scales.shifts == NULL ||
        !ember_powers_fit_dsp(conv->scales.shifts, conv->filters) ||
        (conv->over && !is_flat(conv))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with DSP");
    }
    set_scratch(s, node);
    return ember_node_status(node);
}

EMBER_KERNEL(packed_conv2d_s8_dsp, state_t);
