// SPDX-License-Identifier: Apache-2.0
// Convolutions in plain C, any groups, strides and dilations, for files that define how
// sums become outputs.
#ifndef EMBER_KERNELS_ENGINE_INT8_CONV_S8_WINDOWS_H
#define EMBER_KERNELS_ENGINE_INT8_CONV_S8_WINDOWS_H

#include <stddef.h>

#include "kernels/engine/int8/conv_s8.h"

// The output of filter `f` from the sum of its products.
typedef int8_t (*ember_ending_s8_t)(const ember_scales_s8_t *scales, int32_t f,
                                    uint32_t sum);

// What the filters of one output share.
typedef struct {
    const int8_t *x; // channel 0 under the first tap inside the image
    int32_t row;     // bytes from one row of taps to the next
    int32_t column;
    ember_taps_s8_t height;
    ember_taps_s8_t width;
} window_t;

static inline uint32_t dot(const int8_t *x, const int8_t *w, int32_t count,
                           int32_t offset) {
    uint32_t sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += (uint32_t)((x[i] + offset) * w[i]);
    }
    return sum;
}

// The same of elements `column` apart with weights `tap` apart.
static inline uint32_t dot_apart(const int8_t *x, int32_t column, const int8_t *w,
                                 int32_t tap, int32_t count, int32_t offset) {
    uint32_t sum = 0;
    for (; count > 0; count--) {
        sum += (uint32_t)((*x + offset) * *w);
        x += column;
        w += tap;
    }
    return sum;
}

// The products of one filter, whose weights under neighbouring taps are `tap` apart.
static inline uint32_t sum_window(const ember_conv_s8_t *s, const window_t *at,
                                  const int8_t *x, const int8_t *w, int32_t tap) {
    const int32_t across = at->width.past - at->width.first;
    uint32_t sum = 0;

    for (int32_t ky = at->height.first; ky < at->height.past; ky++) {
        const int8_t *from = x;
        const int8_t *by =
            w + (ptrdiff_t)(ky * s->width.kernel + at->width.first) * tap;
        if (at->column == s->depth && tap == s->depth) { // one run of bytes
            sum += dot(from, by, across * tap, s->x_offset);
        } else if (s->depth == 1) {
            sum += dot_apart(from, at->column, by, tap, across, s->x_offset);
        } else {
            for (int32_t kx = 0; kx < across; kx++) {
                sum += dot(from, by, s->depth, s->x_offset);
                from += at->column;
                by += tap;
            }
        }
        x += at->row;
    }
    return sum;
}

static inline void run_output(const ember_conv_s8_t *s, const window_t *at,
                              bool depthwise, ember_ending_s8_t ending, int8_t *y) {
    const int32_t each = s->filters / (s->channels / s->depth);
    const int32_t tap = depthwise ? s->filters : s->depth;
    const ptrdiff_t filter =
        depthwise ? 1 : (ptrdiff_t)s->height.kernel * s->width.kernel * s->depth;
    const int8_t *w = s->w;
    const int8_t *x = at->x;

    for (int32_t f = 0; f < s->filters; x += s->depth) {
        for (const int32_t past = f + each; f < past; f++) {
            y[f] = ending(&s->scales, f, sum_window(s, at, x, w, tap));
            w += filter;
        }
    }
}

static inline void run_row(const ember_conv_s8_t *s, window_t at, const int8_t *row,
                           bool depthwise, ember_ending_s8_t ending, int8_t *y) {
    for (int32_t ox = 0; ox < s->width.out; ox++) {
        at.width = ember_taps_s8(&s->width, ox);
        const ptrdiff_t column = (ptrdiff_t)ox * s->width.stride - s->width.padding +
                                 (ptrdiff_t)at.width.first * s->width.dilation;
        at.x = row + column * s->channels;
        run_output(s, &at, depthwise, ending, y);
        y += s->filters;
    }
}

static inline void ember_conv_s8_windows(const ember_conv_s8_t *s, bool depthwise,
                                         ember_ending_s8_t ending) {
    const ptrdiff_t pitch = (ptrdiff_t)s->width.in * s->channels;
    const int8_t *x = s->x;
    int8_t *y = s->y;
    window_t at = {
        .row = s->height.dilation * (int32_t)pitch,
        .column = s->width.dilation * s->channels,
    };

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t oy = 0; oy < s->height.out; oy++) {
            at.height = ember_taps_s8(&s->height, oy);
            const ptrdiff_t row = (ptrdiff_t)oy * s->height.stride - s->height.padding +
                                  (ptrdiff_t)at.height.first * s->height.dilation;
            run_row(s, at, x + row * pitch, depthwise, ending, y);
            y += (ptrdiff_t)s->width.out * s->filters;
        }
        x += (ptrdiff_t)s->height.in * pitch;
    }
}

#endif // EMBER_KERNELS_ENGINE_INT8_CONV_S8_WINDOWS_H
