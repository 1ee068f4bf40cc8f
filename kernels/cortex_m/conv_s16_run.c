// SPDX-License-Identifier: Apache-2.0
// Layers with activations of int16 in plain C: any groups, strides and dilations.
// Contract: conv_s16.h.
#include <stddef.h>

#include "kernels/cortex_m/conv_s16.h"

// What the filters of one output share.
typedef struct {
    const int16_t *x; // channel 0 under the first tap inside the image
    ember_taps_s8_t height;
    ember_taps_s8_t width;
} window_t;

static uint32_t dot(const int16_t *x, const int8_t *w, int32_t count) {
    uint32_t sum = 0;

    for (int32_t i = 0; i < count; i++) {
        sum += (uint32_t)(x[i] * w[i]);
    }
    return sum;
}

// The products of a filter, whose weights under neighbouring taps are `tap` apart, with
// channels from `x` on.
static uint32_t sum_window(const ember_conv_s8_t *conv, const window_t *at,
                           const int16_t *x, const int8_t *w, int32_t tap) {
    const ptrdiff_t column = (ptrdiff_t)conv->width.dilation * conv->channels;
    const ptrdiff_t row =
        (ptrdiff_t)conv->height.dilation * conv->width.in * conv->channels;
    uint32_t sum = 0;

    for (int32_t ky = at->height.first; ky < at->height.past; ky++) {
        const ptrdiff_t first = ky * conv->width.kernel + at->width.first;
        const int8_t *by = w + first * tap;
        const int16_t *from = x;
        for (int32_t kx = at->width.first; kx < at->width.past; kx++) {
            sum += dot(from, by, conv->depth);
            from += column;
            by += tap;
        }
        x += row;
    }
    return sum;
}

static void run_output(const ember_conv_s16_t *s, const window_t *at, int16_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t each = conv->filters / (conv->channels / conv->depth);
    const int32_t tap = s->depthwise ? conv->filters : conv->depth;
    const ptrdiff_t filter =
        s->depthwise ? 1 : (ptrdiff_t)ember_conv_s8_taps(conv) * conv->depth;
    const int8_t *w = conv->w;
    const int16_t *x = at->x;

    for (int32_t f = 0; f < conv->filters; x += conv->depth) {
        for (const int32_t past = f + each; f < past; f++) {
            y[f] = ember_scaled_s16(s, f, sum_window(conv, at, x, w, tap));
            w += filter;
        }
    }
}

static void run_row(const ember_conv_s16_t *s, window_t at, const int16_t *row,
                    int16_t *y) {
    const ember_conv_s8_axis_t *width = &s->conv.width;

    for (int32_t ox = 0; ox < width->out; ox++) {
        at.width = ember_taps_s8(width, ox);
        const ptrdiff_t column = (ptrdiff_t)ox * width->stride - width->padding +
                                 (ptrdiff_t)at.width.first * width->dilation;
        at.x = row + column * s->conv.channels;
        run_output(s, &at, y);
        y += s->conv.filters;
    }
}

void ember_conv_s16_run(const ember_conv_s16_t *s) {
    const ember_conv_s8_axis_t *height = &s->conv.height;
    const ptrdiff_t pitch = (ptrdiff_t)s->conv.width.in * s->conv.channels;
    const int16_t *x = s->x;
    int16_t *y = s->y;
    window_t at = {.x = x};

    for (int32_t n = 0; n < s->conv.batches; n++) {
        for (int32_t oy = 0; oy < height->out; oy++) {
            at.height = ember_taps_s8(height, oy);
            const ptrdiff_t row = (ptrdiff_t)oy * height->stride - height->padding +
                                  (ptrdiff_t)at.height.first * height->dilation;
            run_row(s, at, x + row * pitch, y);
            y += (ptrdiff_t)s->conv.width.out * s->conv.filters;
        }
        x += height->in * pitch;
    }
}
