// SPDX-License-Identifier: Apache-2.0
// winograd_conv2d_s8_dsp: with the DSP instructions. Four tiles of 2 x 2 outputs at a
// time: the 4 x 4 elements under each become 16 transformed ones of every channel, in
// scratch, which two filters after the other are multiplied with.
#include <arm_dsp_pairs.h>
#include <arm_dsp_winograd.h>
#include <stddef.h>

#include "kernels/engine/dsp/products_dsp.h"
#include "kernels/engine/int8/winograd_s8.h"

enum { SIDE = EMBER_WINOGRAD_SIDE, TERMS = EMBER_WINOGRAD_TERMS };
enum { TILES = 4, PAIR = 2, FOUR = 4, OUTPUTS = 2 }; // outputs of a side of a tile

// What a filter's sums become outputs by.
typedef struct {
    ember_scale_dsp_t by;
    int32_t twice_bias;
} filter_t;

typedef struct {
    ember_conv_s8_t conv;
    const int16_t *w;
    uint32_t *x;       // (16, pairs of channels, 4 tiles)
    int32_t *sums;     // (16, 2 filters, 4 tiles)
    filter_t *filters; // (filters,)
    int8_t *beside;    // (channels,): an element beside the image
    int8_t *spare;     // (filters,): outputs that are none
} state_t;

// Four tiles: where their outputs begin. Those beside the image are written to `spare`.
typedef struct {
    int8_t *to[OUTPUTS][TILES * OUTPUTS]; // (row, tile and column)
} tiles_t;

// --- elements ------------------------------------------------------------------------

// B^T d of four values: differences and sums.
INLINE void turn(const uint32_t d[SIDE], uint32_t *to, ptrdiff_t step) {
    to[0] = ember_pairs_sub(d[0], d[2]);
    to[step] = ember_pairs_add(d[1], d[2]);
    to[2 * step] = ember_pairs_sub(d[2], d[1]);
    to[3 * step] = ember_pairs_sub(d[1], d[3]);
}

// Four channels of a tile, from byte `at` of its pixels on.
INLINE void transform_four(const state_t *s, const int8_t *const pixels[TERMS],
                           int32_t at, uint32_t *to) {
    const ptrdiff_t step = (ptrdiff_t)s->conv.channels / PAIR * TILES;
    const uint32_t offset = ember_both_dsp(s->conv.x_offset);
    uint32_t even[TERMS], odd[TERMS];

#pragma GCC unroll 4
    for (int32_t column = 0; column < SIDE; column++) {
        uint32_t e[SIDE], o[SIDE];
#pragma GCC unroll 4
        for (int32_t row = 0; row < SIDE; row++) {
            const uint32_t word = ember_word_dsp(pixels[SIDE * row + column] + at);
            e[row] = ember_sxtab16(offset, word);
            o[row] = ember_sxtab16_odd(offset, word);
        }
        turn(e, even + column, SIDE);
        turn(o, odd + column, SIDE);
    }
#pragma GCC unroll 4
    for (int32_t row = 0; row < SIDE; row++) {
        turn(even + SIDE * row, to, step);
        turn(odd + SIDE * row, to + TILES, step);
        to += SIDE * step;
    }
}

// The elements under the tile of output (oy, ox), transformed, to place `n` of four.
FAST void transform(const state_t *s, const int8_t *x, int32_t oy, int32_t ox,
                    int32_t n) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t top = oy - conv->height.padding;
    const int32_t left = ox - conv->width.padding;
    const int8_t *pixels[TERMS];
    uint32_t *to = s->x + n;

    for (int32_t i = 0; i < TERMS; i++) {
        const int32_t y = top + i / SIDE, column = left + i % SIDE;
        const bool inside =
            y >= 0 && y < conv->height.in && column >= 0 && column < conv->width.in;
        const ptrdiff_t pixel = (ptrdiff_t)y * conv->width.in + column;
        pixels[i] = inside ? x + pixel * conv->channels : s->beside;
    }
    for (int32_t c = 0; c < conv->channels; c += FOUR) {
        transform_four(s, pixels, c, to);
        to += PAIR * TILES;
    }
}

// --- outputs -------------------------------------------------------------------------

// A^T m of all tiles and both filters: the first and the second row of outputs.
INLINE void sum_columns(uint32_t *sums) {
    enum { ROW = SIDE * PAIR * TILES };

#pragma GCC unroll 4
    for (int32_t i = 0; i < ROW; i++) {
        const uint32_t a = sums[i], b = sums[ROW + i];
        const uint32_t c = sums[2 * ROW + i], d = sums[3 * ROW + i];
        sums[i] = a + b + c;
        sums[ROW + i] = b - c - d;
    }
}

// Four times an output's sum becomes the output.
INLINE int8_t scaled(uint32_t sum, filter_t by) {
    const uint32_t twice = (uint32_t)((int32_t)sum >> 1) + (uint32_t)by.twice_bias;

    return (int8_t)ember_scaled_half_dsp((int32_t)twice, by.by);
}

// A row of outputs of filter `f`: those of tile n at to[n].
INLINE void finish_row(const filter_t by, const uint32_t *sums, int8_t *const *to,
                       int32_t f) {
    enum { APART = PAIR * TILES };

#pragma GCC unroll 4
    for (int32_t n = 0; n < TILES; n++) {
        const uint32_t b = sums[APART], c = sums[2 * APART];
        to[0][f] = scaled(sums[0] + b + c, by);
        to[1][f] = scaled(b - c - sums[3 * APART], by);
        sums++;
        to += OUTPUTS;
    }
}

// --- images --------------------------------------------------------------------------

// All filters of four tiles.
FAST void run_tiles(const state_t *s, const tiles_t *tiles) {
    const int32_t channels = s->conv.channels;
    uint32_t *sums = (uint32_t *)s->sums;
    ember_winograd_dsp_t products = {
        .w = s->w, .x = s->x, .pairs = channels / PAIR, .sums = s->sums};

    for (int32_t f = 0; f < s->conv.filters; f++) {
        if (f % PAIR == 0) {
            ember_winograd_dsp(&products);
            products.w += (ptrdiff_t)TERMS * PAIR * channels;
            sum_columns(sums);
        }
        for (int32_t row = 0; row < OUTPUTS; row++) {
            finish_row(s->filters[f],
                       sums + SIDE * PAIR * TILES * row + f % PAIR * TILES,
                       tiles->to[row], f);
        }
    }
}

// Sets where the outputs of tile `n` begin.
static void place(const state_t *s, tiles_t *tiles, int32_t n, int8_t *y, int32_t oy,
                  int32_t ox) {
    const ember_conv_s8_t *conv = &s->conv;
    const ptrdiff_t row = (ptrdiff_t)conv->width.out * conv->filters;

    for (int32_t i = 0; i < OUTPUTS * OUTPUTS; i++) {
        const int32_t down = oy + i / OUTPUTS, across = ox + i % OUTPUTS;
        const bool inside = down < conv->height.out && across < conv->width.out;
        tiles->to[i / OUTPUTS][OUTPUTS * n + i % OUTPUTS] =
            inside ? y + down * row + (ptrdiff_t)across * conv->filters : s->spare;
    }
}

static void run_image(const state_t *s, const int8_t *x, int8_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t high = conv->height.out, wide = conv->width.out;
    tiles_t tiles;
    int32_t count = 0;

    for (int32_t oy = 0; oy < high; oy += OUTPUTS) {
        for (int32_t ox = 0; ox < wide; ox += OUTPUTS) {
            place(s, &tiles, count, y, oy, ox);
            transform(s, x, oy, ox, count++);
            if (count == TILES) {
                run_tiles(s, &tiles);
                count = 0;
            }
        }
    }
    if (count > 0) {
        for (; count < TILES; count++) {
            place(s, &tiles, count, y, high, wide);
        }
        run_tiles(s, &tiles);
    }
}

// Also elements of tiles that are none, which are multiplied, too.
SMALL static void set_scratch(const state_t *s) {
    const ember_scales_s8_t *scales = &s->conv.scales;

    memset(s->x, 0, (size_t)s->conv.channels * TERMS * TILES * sizeof(int16_t));
    memset(s->beside, -s->conv.x_offset, (size_t)s->conv.channels);
    for (int32_t f = 0; f < s->conv.filters; f++) {
        const int32_t bias = scales->bias == NULL ? 0 : scales->bias[f];
        s->filters[f].by = ember_scale_dsp(scales->multipliers[f], scales->shifts[f],
                                           scales->zero_point);
        s->filters[f].twice_bias = (int32_t)((uint32_t)bias << 1);
    }
}

static void limit(int8_t *y, ptrdiff_t count, ember_limits_s8_t limits) {
    if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
        for (; count > 0; count--, y++) {
            *y = ember_limit_s8(*y, limits);
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ember_conv_s8_t *conv = &s->conv;
    const ptrdiff_t x_image =
        (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
    const ptrdiff_t y_image =
        (ptrdiff_t)conv->height.out * conv->width.out * conv->filters;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;

    set_scratch(s);
    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(s, x, y);
        x += x_image;
        y += y_image;
    }
    limit(conv->y, y - conv->y, conv->scales.limits);
    return EMBER_OK;
}

// --- preparing -----------------------------------------------------------------------

SMALL static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const ember_conv_s8_t *conv = &s->conv;
    const ember_status_t status = ember_winograd_s8_args(&s->conv, node, &s->w);

    if (status != EMBER_OK) {
        return status;
    }
    if (conv->rows != EMBER_ROWS_NORMAL || conv->x_offset < -INT8_MAX ||
        !ember_scales_fit_dsp(conv, (int64_t)conv->channels * 9)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with DSP");
    }
    const int32_t x = conv->channels * TERMS * TILES * (int32_t)sizeof(int16_t);
    const int32_t sums = TERMS * PAIR * TILES * (int32_t)sizeof(int32_t);
    const int32_t filters = conv->filters * (int32_t)sizeof(filter_t);
    const int32_t bytes = conv->channels + conv->filters;
    int8_t *scratch = ember_node_scratch(node, (size_t)(x + sums + filters + bytes));

    if (scratch != NULL) {
        s->x = (uint32_t *)(void *)scratch;
        s->sums = (int32_t *)(void *)(scratch + x);
        s->filters = (filter_t *)(void *)(scratch + x + sums);
        s->beside = scratch + x + sums + filters;
        s->spare = s->beside + conv->channels;
    }
    return ember_node_status(node);
}

EMBER_KERNEL(winograd_conv2d_s8_dsp, state_t);
