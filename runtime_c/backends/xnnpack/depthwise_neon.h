// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of floats with Advanced SIMD: eight channels of four output
// pixels at a time. Sums are float32, taps are added in order after the bias.
#ifndef EMBER_XNNPACK_DEPTHWISE_NEON_H
#define EMBER_XNNPACK_DEPTHWISE_NEON_H

#include "depthwise.h"
#include "neon.h"

#define XNN_INLINE static inline __attribute__((always_inline))

enum { CHANNELS = 8, PIXELS = 4 };

// How elements are read and written, four from index `at` on.
typedef struct access {
    float32x4_t (*x)(const void *from, size_t at);
    float32x4_t (*w)(const void *from, size_t at);
    void (*y)(void *to, size_t at, float32x4_t numbers);
    float (*bias)(const ember_xnn_value_t *bias, uint32_t channel);
} access_t;

// Output pixels of a line, at a block of channels.
typedef struct pixels {
    const ember_xnn_node_t *node;
    const ember_xnn_window_t *window;
    const float *bias;
    size_t x; // where the line of the window's first tap begins, elements
    size_t w; // of that tap
    size_t y; // of the output's first pixel
    int32_t lines;
} pixels_t;

// Channels that have one output each, and more than one block of them.
static inline ember_status_t depthwise_prepare(ember_xnn_graph_t *graph,
                                               ember_xnn_node_t *node,
                                               const ember_xnn_type_t *type) {
    const uint32_t *params = node->params;
    if (params[CONV_GROUP_OUTPUTS] != 1 || params[CONV_GROUPS] < CHANNELS) {
        return EMBER_UNSUPPORTED;
    }
    const ember_status_t status = ember_xnn_depthwise_prepare(graph, node, type);
    node->scratch = 0; // sums stay in registers
    return status;
}

// Adds taps [x0, x1) of `count` pixels, of which the first one's window begins at
// column `left`.
XNN_INLINE void run_pixels(const access_t access, const pixels_t *pixels, int32_t ox,
                           int32_t x0, int32_t x1, const int32_t count) {
    const ember_xnn_axis_t *across = &pixels->window->x;
    const ptrdiff_t channels = pixels->window->channels;
    const ptrdiff_t down = pixels->window->y.dilation * channels * across->in;
    const ptrdiff_t left = ox * across->stride - across->before;
    const ptrdiff_t step = across->stride * channels;
    const void *input = pixels->node->in[0]->constant;
    const void *weights = pixels->node->in[1]->constant;
    float32x4_t s[PIXELS][2];
    for (int32_t i = 0; i < count; i++) {
        s[i][0] = vld1q_f32(pixels->bias);
        s[i][1] = vld1q_f32(pixels->bias + 4);
    }
    for (int32_t ky = 0; ky < pixels->lines; ky++) {
        ptrdiff_t x = (ptrdiff_t)pixels->x + ky * down +
                      (left + x0 * across->dilation) * channels;
        ptrdiff_t w = (ptrdiff_t)pixels->w + (ky * across->kernel + x0) * channels;
        for (int32_t kx = x0; kx < x1; kx++) {
            const float32x4_t w0 = access.w(weights, (size_t)w);
            const float32x4_t w1 = access.w(weights, (size_t)w + 4);
            for (int32_t i = 0; i < count; i++) {
                const size_t at = (size_t)(x + i * step);
                s[i][0] = vfmaq_f32(s[i][0], access.x(input, at), w0);
                s[i][1] = vfmaq_f32(s[i][1], access.x(input, at + 4), w1);
            }
            x += across->dilation * channels;
            w += channels;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        const size_t at = pixels->y + (size_t)((ox + i) * channels);
        void *out = pixels->node->out[0]->data;
        access.y(out, at, xnn_neon_clamp(s[i][0], pixels->node));
        access.y(out, at + 4, xnn_neon_clamp(s[i][1], pixels->node));
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

// A block of channels of a line; the last block may have channels of the one before.
XNN_INLINE void run_block(const access_t access, const ember_xnn_node_t *node,
                          const ember_xnn_window_t *window, int32_t batch, int32_t y,
                          size_t channel) {
    const ember_xnn_value_t *bias = node->in[2];
    const size_t channels = (size_t)window->channels;
    float own[CHANNELS] = {0.0f};
    for (uint32_t i = 0; i < CHANNELS && bias != NULL; i++) {
        own[i] = access.bias(bias, (uint32_t)channel + i);
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
