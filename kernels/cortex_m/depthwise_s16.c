// SPDX-License-Identifier: Apache-2.0
// Pixels of a depthwise convolution of int16. Contract: depthwise_s16.h.
#include "kernels/cortex_m/depthwise_s16.h"

// The pixels of a row, the first of which has no columns yet.
static void run_row(const ember_conv_s8_t *conv, ember_pixel_s16_t pixel,
                    ember_pixel_s16_fn one, const void *state) {
    const ember_conv_s8_axis_t *width = &conv->width;
    const int16_t *x = pixel.x;
    const int8_t *w = pixel.w;

    for (int32_t ox = 0; ox < width->out; ox++) {
        const ember_taps_s8_t across = ember_taps_s8(width, ox);
        const int32_t at = ox * width->stride - width->padding;
        pixel.columns = across.past - across.first;
        pixel.x = x + (ptrdiff_t)at * conv->channels + across.first * pixel.x_step;
        pixel.w = w + across.first * pixel.w_step;
        one(state, &pixel);
        pixel.y += conv->filters;
    }
}

void ember_depthwise_s16_walk(const ember_conv_s16_t *s, ember_pixel_s16_fn one,
                              const void *state) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height;
    const ptrdiff_t pitch = (ptrdiff_t)conv->width.in * conv->channels;
    const int16_t *x = s->x;
    ember_pixel_s16_t pixel = {
        .y = s->y,
        .x_row = height->dilation * (int32_t)pitch,
        .x_step = conv->width.dilation * conv->channels,
        .w_row = conv->width.kernel * conv->filters,
        .w_step = conv->filters,
    };

    for (int32_t n = 0; n < conv->batches; n++) {
        for (int32_t oy = 0; oy < height->out; oy++) {
            const ember_taps_s8_t down = ember_taps_s8(height, oy);
            const ptrdiff_t top = (ptrdiff_t)oy * height->stride - height->padding +
                                  (ptrdiff_t)down.first * height->dilation;
            pixel.x = x + top * pitch;
            pixel.w = conv->w + (ptrdiff_t)down.first * pixel.w_row;
            pixel.rows = down.past - down.first;
            run_row(conv, pixel, one, state);
            pixel.y += (ptrdiff_t)conv->width.out * conv->filters;
        }
        x += height->in * pitch;
    }
}
