// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of floats with NEON: eight channels of four output pixels at a
// time. Sums are float32, taps are added in order after the bias.
#ifndef EMBER_XNNPACK_DEPTHWISE_NEON_H
#define EMBER_XNNPACK_DEPTHWISE_NEON_H

#include "depthwise.h"
#include "neon.h"

enum { CHANNELS = 8, PIXELS = 4 };

// Reads and writes four elements from index `at` on.
typedef struct access {
    float32x4_t (*x)(const void *from, size_t at);
    float32x4_t (*w)(const void *from, size_t at);
    void (*y)(void *to, size_t at, float32x4_t numbers);
    float32x4_t (*bias)(const ember_xnn_value_t *bias, size_t channel);
    bool rounds; // sums are rounded to float16 after each tap
    bool twice;  // two sums, of every other tap each, see depthwise.h
} access_t;

// A walk over `count` taps, and the distance between two of them in the input and the
// weights, in elements.
typedef struct steps {
    int32_t count;
    ptrdiff_t x;
    ptrdiff_t w;
} steps_t;

// Output pixels of a row, for a block of channels.
typedef struct pixels {
    const ember_xnn_node_t *node;
    const ember_xnn_window_t *window;
    const float *bias;
    size_t x;      // where the row of the window's first tap begins, in elements
    size_t w;      // of that tap
    size_t y;      // of the output's first pixel
    int32_t first; // row of the window
    int32_t lines;
} pixels_t;

// Channels that have one output each, in more than one block.
static inline ember_status_t depthwise_prepare(ember_xnn_graph_t *graph,
                                               ember_xnn_node_t *node,
                                               const ember_xnn_type_t *type) {
    const uint32_t *params = node->params;
    const ember_status_t status = ember_xnn_depthwise_prepare(graph, node, type);
    if (status != EMBER_OK) {
        return status;
    }
    node->scratch = 0; // sums stay in registers
    if (params[CONV_GROUP_OUTPUTS] != 1) {
        return xnn_refuse(node, XNN_OTHER_WINDOW);
    }
    return params[CONV_GROUPS] < CHANNELS ? xnn_refuse(node, XNN_FEW_CHANNELS)
                                          : EMBER_OK;
}

XNN_INLINE float32x4_t add_product(const access_t access, float32x4_t sum,
                                   float32x4_t x, float32x4_t w) {
    const float32x4_t more = vfmaq_f32(sum, x, w);
    return access.rounds ? vcvt_f32_f16(vcvt_f16_f32(more)) : more;
}

// Sums of two vectors of channels for each of several pixels.
typedef struct sums {
    float32x4_t of[PIXELS][2];
} sums_t;

// Adds one tap of `count` pixels that are `step` elements apart.
XNN_INLINE void add_tap(const access_t access, const pixels_t *pixels, ptrdiff_t x,
                        ptrdiff_t w, ptrdiff_t step, const int32_t count,
                        sums_t *sums) {
    const void *input = pixels->node->in[0]->constant;
    const void *weights = pixels->node->in[1]->constant;
    const float32x4_t w0 = access.w(weights, (size_t)w);
    const float32x4_t w1 = access.w(weights, (size_t)w + 4);
    for (int32_t i = 0; i < count; i++) {
        const size_t at = (size_t)(x + i * step);
        sums->of[i][0] = add_product(access, sums->of[i][0], access.x(input, at), w0);
        sums->of[i][1] =
            add_product(access, sums->of[i][1], access.x(input, at + 4), w1);
    }
}

// Adds the taps from (x, w) on; the number of the first one is `turn`.
XNN_INLINE void add_taps(const access_t access, const pixels_t *pixels, ptrdiff_t x,
                         ptrdiff_t w, ptrdiff_t step, const int32_t count,
                         const steps_t *outer, const steps_t *inner, int32_t turn,
                         int32_t more, sums_t *sums) {
    for (int32_t i = 0; i < outer->count; i++, x += outer->x, w += outer->w) {
        for (int32_t j = 0; j < inner->count; j++) {
            const bool odd = access.twice && (turn + j) % 2 != 0;
            add_tap(access, pixels, x + j * inner->x, w + j * inner->w, step, count,
                    sums + odd);
        }
        turn += more;
    }
}

// Adds taps [x0, x1) of `count` pixels; the first pixel's window begins at column
// `left`.
XNN_INLINE void run_pixels(const access_t access, const pixels_t *pixels, int32_t ox,
                           int32_t x0, int32_t x1, const int32_t count) {
    const ember_xnn_axis_t *across = &pixels->window->x;
    const ptrdiff_t channels = pixels->window->channels;
    const ptrdiff_t left = ox * across->stride - across->before;
    const ptrdiff_t step = across->stride * channels;
    const ptrdiff_t x =
        (ptrdiff_t)pixels->x + (left + x0 * across->dilation) * channels;
    const ptrdiff_t w = (ptrdiff_t)pixels->w + x0 * channels;
    const steps_t rows = {pixels->lines,
                          pixels->window->y.dilation * channels * across->in,
                          across->kernel * channels};
    const steps_t columns = {x1 - x0, across->dilation * channels, channels};
    const bool turned = xnn_by_columns(pixels->node);
    const int32_t height = pixels->window->y.kernel;
    sums_t sums[2] = {{{{{0}}}}};
    for (int32_t i = 0; i < count; i++) {
        sums[0].of[i][0] = vld1q_f32(pixels->bias);
        sums[0].of[i][1] = vld1q_f32(pixels->bias + 4);
    }
    add_taps(access, pixels, x, w, step, count, turned ? &columns : &rows,
             turned ? &rows : &columns, x0 * height + pixels->first, height, sums);
    const float32x4_t low = vdupq_n_f32(pixels->node->low);
    const float32x4_t high = vdupq_n_f32(pixels->node->high);
    void *out = pixels->node->out[0]->data;
    size_t at = pixels->y + (size_t)(ox * channels);
    for (int32_t i = 0; i < count; i++, at += (size_t)channels) {
        for (uint32_t j = 0; j < 2; j++) {
            const float32x4_t sum = access.twice
                                        ? vaddq_f32(sums[0].of[i][j], sums[1].of[i][j])
                                        : sums[0].of[i][j];
            access.y(out, at + 4 * j, neon_between(sum, low, high));
        }
    }
}

XNN_INLINE void run_line(const access_t access, const pixels_t *pixels) {
    const ember_xnn_axis_t *across = &pixels->window->x;
    const int32_t span = (across->kernel - 1) * across->dilation;
    for (int32_t x = 0; x < across->out;) {
        const int32_t last = (x + PIXELS - 1) * across->stride - across->before;
        int32_t x0, x1;
        if (x * across->stride >= across->before && x + PIXELS <= across->out &&
            last + span < across->in) {
            run_pixels(access, pixels, x, 0, across->kernel, PIXELS);
            x += PIXELS;
        } else {
            (void)xnn_taps(across, x, &x0, &x1);
            run_pixels(access, pixels, x, x0, x1, 1);
            x++;
        }
    }
}

// A block of channels of a row; the last block may overlap the one before.
XNN_INLINE void run_block(const access_t access, const ember_xnn_node_t *node,
                          const ember_xnn_window_t *window, int32_t batch, int32_t y,
                          size_t channel) {
    const ember_xnn_value_t *bias = node->in[2];
    const size_t channels = (size_t)window->channels;
    float own[CHANNELS] = {0.0f};
    for (uint32_t i = 0; i < CHANNELS && bias != NULL; i += 4) {
        vst1q_f32(own + i, access.bias(bias, channel + i));
    }
    int32_t y0, y1;
    const int32_t top = xnn_taps(&window->y, y, &y0, &y1);
    const int32_t first = top + y0 * window->y.dilation;
    const int32_t row = batch * window->y.in + first;
    const int32_t to = batch * window->y.out + y;
    const pixels_t pixels = {
        .node = node,
        .window = window,
        .bias = own,
        .x = (size_t)row * (uint32_t)window->x.in * channels + channel,
        .w = (size_t)(y0 * window->x.kernel) * channels + channel,
        .y = (size_t)to * (uint32_t)window->x.out * channels + channel,
        .first = y0,
        .lines = y1 - y0,
    };
    run_line(access, &pixels);
}

XNN_INLINE void depthwise_run(const access_t access, const ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    (void)!ember_xnn_window_read(node, &window);
    const size_t channels = (size_t)window.channels;
    for (int32_t b = 0; b < window.batch; b++) {
        for (int32_t y = 0; y < window.y.out; y++) {
            for (size_t i = 0; i < channels; i += CHANNELS) {
                const size_t last = channels - CHANNELS;
                run_block(access, node, &window, b, y, i < last ? i : last);
            }
        }
    }
}

#endif // EMBER_XNNPACK_DEPTHWISE_NEON_H
