// SPDX-License-Identifier: Apache-2.0
// packed_conv2d_s8_dsp: with the DSP instructions. The elements under the taps of two
// outputs lie side by side in scratch as int16, their offset added, and are multiplied
// with four filters after the other.
#include <arm_dsp_columns.h>
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

static bool is_padded(const state_t *s) {
    return s->conv.width.kernel * s->conv.depth != s->fours * FOUR;
}

// --- columns -------------------------------------------------------------------------

FAST void copy_row(int8_t *to, const int8_t *from, int32_t length) {
    if (length >= FOUR) {
        ember_copy_runs_dsp(to, from, length, 0, 1);
        return;
    }
    for (int32_t i = 0; i < length; i++) {
        to[i] = from[i];
    }
}

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
        copy_row(copy + ky * line + skipped, from, length);
        from += column->pitch;
    }
    column->from = copy;
    column->pitch = line;
}

FAST void widen(const state_t *s, const column_t *a, const column_t *b,
                int32_t sums[COLUMNS]) {
    const uint32_t offset = ember_both_dsp(s->conv.x_offset);
    const int8_t *first = a->from, *second = b->from;
    uint32_t *to = s->words;

    sums[0] = sums[1] = 0;
    for (int32_t ky = s->conv.height.kernel; ky > 0; ky--) {
        to = ember_widen_two(to, first, second, s->fours, offset, sums);
        first += a->pitch;
        second += b->pitch;
    }
}

// --- products ------------------------------------------------------------------------

SMALL static void set_filters(const state_t *s) {
    const ember_scales_s8_t *scales = &s->conv.scales;

    for (int32_t f = 0; f < s->conv.filters; f++) {
        ember_quad_dsp_t *quad = s->by + f / FOUR;
        const int32_t bias = scales->bias == NULL ? 0 : scales->bias[f];
        const ember_filter_dsp_t by =
            ember_filter_dsp(bias, scales->multipliers[f], scales->shifts[f]);
        int32_t *sums = quad->bias + (f % FOUR & PAIR);
        if (f % PAIR == 0) {
            sums[0] = bias;
        } else {
            sums[0] = (int32_t)((uint32_t)sums[0] + ((uint32_t)bias << 8));
            sums[1] = bias;
        }
        quad->by[f % FOUR].multiplier = by.multiplier;
        quad->by[f % FOUR].shift = by.shift;
    }
}

// One piece of code for all callers.
static __attribute__((noinline)) void multiply(const ember_quads_dsp_t *tiles,
                                               ember_limits_s8_t limits) {
    ember_quads_dsp(tiles);
    if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
        for (int32_t i = 0; i < FOUR * tiles->quads; i++) {
            tiles->y[0][i] = ember_limit_s8(tiles->y[0][i], limits);
            tiles->y[1][i] = ember_limit_s8(tiles->y[1][i], limits);
        }
    }
}

static void run_pair(const state_t *s, ember_quads_dsp_t *tiles, column_t *columns) {
    const int32_t size = s->conv.height.kernel * s->fours * FOUR;

    for (int32_t n = 0; n < COLUMNS; n++) {
        if (!columns[n].whole) {
            copy_clipped(s, &columns[n], s->copies + n * size);
        }
    }
    widen(s, &columns[0], &columns[1], tiles->sums);
    tiles->y[0] = columns[0].to;
    tiles->y[1] = columns[1].to;
    multiply(tiles, s->conv.scales.limits);
}

// --- images --------------------------------------------------------------------------

static void run_image(const state_t *s, ember_quads_dsp_t *tiles, const int8_t *x,
                      int8_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const ptrdiff_t pitch = (ptrdiff_t)width->in * conv->depth;
    const int32_t past = width->in - width->kernel + 1;
    const bool padded = is_padded(s);
    column_t columns[COLUMNS];
    int32_t count = 0;

    for (int32_t oy = 0; oy < height->out; oy++) {
        const int32_t top = oy * height->stride - height->padding;
        const bool inside = top >= 0 && top + height->kernel <= height->in;
        // The last column reads beyond its taps, and must not beyond the image.
        const bool last = padded && top + height->kernel == height->in;
        for (int32_t ox = 0; ox < width->out; ox++) {
            const int32_t left = ox * width->stride - width->padding;
            columns[count++] = (column_t){
                .from = x + top * pitch + left * conv->depth,
                .y = oy,
                .x = ox,
                .pitch = pitch,
                .to = y,
                .whole = inside && left >= 0 && left < past - last,
            };
            y += conv->filters;
            if (count == COLUMNS) {
                run_pair(s, tiles, columns);
                count = 0;
            }
        }
    }
    if (count > 0) {
        columns[1] = columns[0];
        run_pair(s, tiles, columns);
    }
}

static bool is_flat(const ember_conv_s8_t *conv) {
    return ember_conv_s8_is_direct(conv) && conv->depth % FOUR == 0 &&
           conv->height.stride == 1 && conv->width.stride == 1;
}

// Images whose pixels are the columns.
static void run_flat(const state_t *s, ember_quads_dsp_t *tiles) {
    const ember_conv_s8_t *conv = &s->conv;
    const uint32_t offset = ember_both_dsp(conv->x_offset);
    const ember_limits_s8_t limits = conv->scales.limits;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;

    for (int32_t left = conv->batches * conv->height.in * conv->width.in; left > 0;
         left -= COLUMNS) {
        const int32_t second = left > 1 ? 1 : 0;
        tiles->sums[0] = tiles->sums[1] = 0;
        ember_widen_two(s->words, x, x + second * conv->depth, s->fours, offset,
                        tiles->sums);
        tiles->y[0] = y;
        tiles->y[1] = y + second * conv->filters;
        multiply(tiles, limits);
        x += COLUMNS * conv->depth;
        y += COLUMNS * conv->filters;
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ember_conv_s8_t *conv = &s->conv;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;
    ember_quads_dsp_t tiles = {
        .w = conv->w,
        .x = s->words,
        .blocks = conv->height.kernel * s->fours,
        .by = s->by,
        .quads = conv->filters / FOUR,
        .offset = 2 * conv->scales.zero_point + 1,
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
        (conv->over && !is_flat(conv))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with DSP");
    }
    set_scratch(s, node);
    return ember_node_status(node);
}

EMBER_KERNEL(packed_conv2d_s8_dsp, state_t);
