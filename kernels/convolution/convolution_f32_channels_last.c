// SPDX-License-Identifier: Apache-2.0
// convolution_f32_channels_last: input, weights and output (n, h, w, c) in memory.
//
// The channels under neighbouring taps of a row are adjacent in image and kernel alike,
// so a row of taps is one dot product. With one input channel per group (depthwise)
// there is nothing to multiply along; four channels are computed side by side instead.
#include "kernels/convolution/axis.h"

#define INLINE static inline __attribute__((always_inline))

typedef struct {
    const float *x;    // (batches, in_h, in_w, groups * channels)
    const float *w;    // (groups * filters, kernel_h, kernel_w, channels)
    const float *bias; // (groups * filters,) or NULL
    float *y;          // (batches, out_h, out_w, groups * filters)
    int32_t batches, groups, channels, filters;
    ember_axis_t height;
    ember_axis_t width;
} state_t;

// The taps of one output: in the image and in the kernel.
typedef struct {
    const float *x; // first tap inside, first channel of the image
    const float *w; // first tap inside, of filter 0
    int32_t rows;
    int32_t columns;
    ptrdiff_t x_row; // elements
    ptrdiff_t w_row;
} patch_t;

// `height` filters of one patch: dot products along `count` elements, `steps` times
// in each row.
INLINE void filters(const patch_t *patch, const float *w_first, ptrdiff_t filter,
                    int32_t steps, ptrdiff_t x_step, int32_t count, float *y,
                    const float *bias, int height) {
    const float *x_row = patch->x;
    const float *w_row = w_first;
    float sums[4] = {0};

    for (int32_t row = patch->rows; row > 0; row--) {
        const float *x_at = x_row;
        const float *w = w_row;
        for (int32_t step = steps; step > 0; step--) {
            const float *x = x_at;
            for (int32_t i = count; i > 0; i--) {
                const float value = *x++;
#pragma GCC unroll 4
                for (int h = 0; h < height; h++) {
                    sums[h] += value * w[h * filter];
                }
                w++;
            }
            x_at += x_step;
        }
        x_row += patch->x_row;
        w_row += patch->w_row;
    }
#pragma GCC unroll 4
    for (int h = 0; h < height; h++) {
        y[h] = sums[h] + (bias == NULL ? 0.0f : bias[h]);
    }
}

// All outputs of one position.
static void dense(const state_t *s, const patch_t *patch, float *y) {
    const ptrdiff_t filter =
        (ptrdiff_t)s->height.kernel * s->width.kernel * s->channels;
    const bool joined = s->width.dilation == 1 && s->groups == 1;
    const int32_t steps = joined ? 1 : patch->columns;
    const int32_t count = joined ? patch->columns * s->channels : s->channels;
    const ptrdiff_t x_step = (ptrdiff_t)s->width.dilation * s->groups * s->channels;
    patch_t part = *patch;

    for (int32_t g = 0; g < s->groups; g++) {
        for (int32_t f = 0; f < s->filters;) {
            const ptrdiff_t at = (ptrdiff_t)g * s->filters + f;
            const float *bias = s->bias == NULL ? NULL : s->bias + at;
            const float *w = part.w + at * filter;
            if (f + 4 <= s->filters) {
                filters(&part, w, filter, steps, x_step, count, y + at, bias, 4);
                f += 4;
            } else {
                filters(&part, w, filter, steps, x_step, count, y + at, bias, 1);
                f++;
            }
        }
        part.x += s->channels;
    }
}

// `width` channels of one position, each with its own filter.
INLINE void channels(const state_t *s, const patch_t *patch, int32_t c, float *y,
                     int width) {
    const ptrdiff_t filter = (ptrdiff_t)s->height.kernel * s->width.kernel;
    const ptrdiff_t x_step = (ptrdiff_t)s->width.dilation * s->groups;
    const float *x_row = patch->x + c;
    const float *w_row = patch->w + c * filter;
    float sums[4] = {0};

    for (int32_t row = patch->rows; row > 0; row--) {
        const float *x = x_row;
        const float *w = w_row;
        for (int32_t k = patch->columns; k > 0; k--) {
#pragma GCC unroll 4
            for (int i = 0; i < width; i++) {
                sums[i] += x[i] * w[i * filter];
            }
            x += x_step;
            w++;
        }
        x_row += patch->x_row;
        w_row += patch->w_row;
    }
#pragma GCC unroll 4
    for (int i = 0; i < width; i++) {
        y[c + i] = sums[i] + (s->bias == NULL ? 0.0f : s->bias[c + i]);
    }
}

static void depthwise(const state_t *s, const patch_t *patch, float *y) {
    int32_t c = 0;

    for (; c + 4 <= s->groups; c += 4) {
        channels(s, patch, c, y, 4);
    }
    for (; c < s->groups; c++) {
        channels(s, patch, c, y, 1);
    }
}

static void run_row(const state_t *s, const float *x, float *y, int32_t h) {
    const ember_range_t rows = ember_axis_taps(&s->height, h);
    const ptrdiff_t pixel = (ptrdiff_t)s->groups * s->channels;
    const ptrdiff_t top = (ptrdiff_t)h * s->height.stride - s->height.padding +
                          (ptrdiff_t)rows.first * s->height.dilation;
    const bool each = s->channels == 1 && s->filters == 1;
    patch_t patch = {
        .rows = rows.past - rows.first,
        .x_row = (ptrdiff_t)s->height.dilation * s->width.in * pixel,
        .w_row = (ptrdiff_t)s->width.kernel * s->channels,
    };

    for (int32_t i = 0; i < s->width.out; i++) {
        const ember_range_t taps = ember_axis_taps(&s->width, i);
        const ptrdiff_t left = (ptrdiff_t)i * s->width.stride - s->width.padding +
                               (ptrdiff_t)taps.first * s->width.dilation;
        patch.columns = taps.past - taps.first;
        patch.x = patch.rows > 0 && patch.columns > 0
                      ? x + (top * s->width.in + left) * pixel
                      : x;
        patch.w = s->w + rows.first * patch.w_row + (ptrdiff_t)taps.first * s->channels;
        (each ? depthwise : dense)(s, &patch, y);
        y += (ptrdiff_t)s->groups * s->filters;
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_conv_t conv;
    const ember_status_t status = ember_conv_args(&conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (!ember_conv_is_2d_f32(&conv) || !conv.channels_last) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: layout");
    }
    s->x = (const void *)conv.x.data;
    s->w = (const void *)conv.w.data;
    s->bias = (const void *)conv.bias;
    s->y = (void *)conv.y.data;
    s->batches = conv.batches;
    s->groups = conv.groups;
    s->channels = conv.channels;
    s->filters = conv.filters;
    s->height = ember_axis_of(&conv, 1);
    s->width = ember_axis_of(&conv, 2);
    return EMBER_OK;
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ptrdiff_t x_image =
        (ptrdiff_t)s->height.in * s->width.in * s->groups * s->channels;
    const ptrdiff_t y_row = (ptrdiff_t)s->width.out * s->groups * s->filters;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t h = 0; h < s->height.out; h++) {
            const ptrdiff_t row = (ptrdiff_t)n * s->height.out + h;
            run_row(s, s->x + n * x_image, s->y + row * y_row, h);
        }
    }
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32_channels_last, state_t);
