// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions pixel by pixel. Contract: depthwise_pixels_dsp.h.
#include "kernels/engine/dsp/depthwise_pixels_dsp.h"

#include <stddef.h>

#include "kernels/engine/dsp/depthwise_lines_dsp.h"
#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4, TAPS = 3, WORDS = 2, ROOM = 1536 }; // words of a pixel; bytes
enum { FEW = 12, FEW_REAL = 8 };                     // outputs of a row

static int32_t pixels_of(const ember_conv_s8_axis_t *axis, int32_t out) {
    return (out - 1) * axis->stride + TAPS;
}

static void set_weights(const ember_conv_s8_t *conv, int32_t first,
                        ember_channels_dsp_t *channels) {
    const int8_t *w = conv->w + first;

    for (int32_t tap = 0; tap < TAPS * TAPS; tap++) {
        const uint32_t word = ember_word_dsp(w);
        channels->weights[WORDS * tap] = ember_sxtb16(word);
        channels->weights[WORDS * tap + 1] = ember_sxtb16_odd(word);
        w += conv->filters;
    }
}

FAST void clear(uint32_t *to, int32_t pixels) {
    for (; pixels > 0; pixels--) {
        *to++ = 0;
        *to++ = 0;
    }
}

// Rows [from, past) of an image become words; what lies beside it is 0, columns
// already.
static void widen(const ember_pixels_dsp_t *s, const ember_conv_s8_t *conv,
                  const int8_t *x, int32_t from, int32_t past) {
    const ember_conv_s8_axis_t *width = &conv->width;
    const int32_t pitch = s->across * WORDS;
    const int32_t first = from > 0 ? from : 0;
    const int32_t end = past < conv->height.in ? past : conv->height.in;
    const int32_t rest = s->across - width->padding;
    const int32_t inside = width->in < rest ? width->in : rest;
    const int32_t rows = end - first;
    const ember_pixels_widen_dsp_t pixels = {
        .to = s->words + (first - from) * pitch + width->padding * WORDS,
        .x = x + first * width->in * conv->channels,
        .step = conv->channels,
        .offset = ember_both_dsp(conv->x_offset),
        .count = inside,
        .rows = rows,
        .skip = (width->in - inside) * conv->channels,
        .to_skip = (s->across - inside) * WORDS * (int32_t)sizeof(uint32_t),
    };

    if (rows <= 0 || inside <= 0) {
        clear(s->words, (past - from) * s->across);
        return;
    }
    clear(s->words, (first - from) * s->across);
    clear(s->words + (end - from) * pitch, (past - end) * s->across);
    ember_pixels_widen_dsp(&pixels);
}

static void run_image(const ember_pixels_dsp_t *s, const ember_conv_s8_t *conv,
                      const ember_pixels_ending_dsp_t *ending,
                      ember_pixels_run_dsp_t *run, const int8_t *x, int8_t *y) {
    const ember_conv_s8_axis_t *height = &conv->height;
    const ember_limits_s8_t limits = conv->scales.limits;

    for (int32_t out = 0; out < height->out; out += s->rows) {
        const int32_t left = height->out - out;
        const int32_t from = out * height->stride - height->padding;
        run->rows = left < s->rows ? left : s->rows;
        run->y = y + out * run->y_down;
        widen(s, conv, x, from, from + (run->rows - 1) * height->stride + TAPS);
        ending->rows(&conv->scales, run);
    }
    if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
        ember_limit_fours_dsp(y, height->out * conv->width.out, conv->channels, limits);
    }
}

SMALL void ember_pixels_dsp_run(const ember_pixels_dsp_t *s,
                                const ember_conv_s8_t *conv,
                                const ember_pixels_ending_dsp_t *ending, int32_t first,
                                bool cleared) {
    const int32_t pitch = s->across * WORDS * (int32_t)sizeof(uint32_t);
    const int32_t y_down = conv->width.out * conv->channels;
    ember_channels_dsp_t channels;
    ember_pixels_run_dsp_t run = {
        .x = s->words,
        .channels = &channels,
        .pitch = pitch,
        .next = conv->width.stride * WORDS * (int32_t)sizeof(uint32_t),
        .down = pitch * conv->height.stride,
        .y_next = conv->channels,
        .y_down = y_down,
        .last = (conv->width.out - 2) * conv->channels,
    };
    const int8_t *x = conv->x + first;
    int8_t *y = conv->y + first;

    set_weights(conv, first, &channels);
    run.offset = ending->channels(&conv->scales, first, &channels);
    if (!cleared) {
        clear(s->words, s->across * pixels_of(&conv->height, s->rows));
    }
    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(s, conv, ending, &run, x, y);
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
        y += (ptrdiff_t)conv->height.out * y_down;
    }
}

// --- the ending ----------------------------------------------------------------------

static int32_t set_scales(const ember_scales_s8_t *scales, int32_t first,
                          ember_channels_dsp_t *channels) {
    for (int32_t c = 0; c < FOUR; c++) {
        const int32_t at = first + c;
        const ember_filter_dsp_t by =
            ember_filter_dsp(scales->bias == NULL ? 0 : scales->bias[at],
                             scales->multipliers[at], scales->shifts[at]);
        channels->bias[c] = by.bias;
        channels->by[c].multiplier = by.multiplier;
        channels->by[c].power = ember_power_dsp(by);
    }
    return 2 * scales->zero_point + 1;
}

static void rows(const ember_scales_s8_t *scales, const ember_pixels_run_dsp_t *run) {
    (void)scales;
    ember_pixels_run_dsp(run);
}

const ember_pixels_ending_dsp_t ember_pixels_ending_dsp = {set_scales, rows};

// --- fitting -------------------------------------------------------------------------

// What takes longer by lines: outputs that are not neighbours, and few of them.
SMALL bool ember_pixels_dsp_fit(const ember_conv_s8_t *conv) {
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const int32_t most = conv->rows == EMBER_ROWS_REAL ? FEW_REAL : FEW;
    const bool few = height->out <= most && width->out <= most;

    return ember_is_three_by_three_dsp(conv) && !conv->over && width->out > 1 &&
           width->padding < TAPS && (few || width->stride > 1);
}

SMALL int32_t ember_pixels_dsp_measure(ember_pixels_dsp_t *s,
                                       const ember_conv_s8_t *conv) {
    const ember_conv_s8_axis_t *height = &conv->height;
    const int32_t across = pixels_of(&conv->width, conv->width.out);
    const int32_t pitch = across * WORDS * (int32_t)sizeof(uint32_t);
    const int32_t spare = ROOM / pitch - TAPS;
    const int32_t most = spare > 0 ? spare / height->stride + 1 : 1;

    s->across = across;
    s->rows = height->out < most ? height->out : most;
    return pixels_of(height, s->rows) * pitch;
}
