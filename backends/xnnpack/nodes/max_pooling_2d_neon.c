// SPDX-License-Identifier: Apache-2.0
// The maximum of each window: float32, or int8 with unchanged scale and zero point.
#include "neon.h"
#include "pooling.h"

enum { BYTES = 16 }; // of channels that are read at once

// Whether the largest int8 is also the largest value, and is copied as it is.
static bool keeps_numbers(const ember_xnn_node_t *node) {
    return xnn_neon_same_numbers(node) && node->low == -__builtin_inff() &&
           node->high == __builtin_inff();
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const bool taken = xnn_types(node, XNN_F32, XNN_F32) || keeps_numbers(node);
    return taken && (node->flags & ~(uint32_t)FLAG_KEEP_DIMS) == 0
               ? ember_xnn_unary_prepare(graph, node)
               : EMBER_UNSUPPORTED;
}

// What all pixels share.
typedef struct walk {
    const ember_xnn_node_t *node;
    ember_xnn_window_t window;
    size_t pixel; // bytes
    size_t line;
    bool floats;
} walk_t;

// Bytes of one pixel's channels: sixteen, or all that it has.
static inline int8x16_t load(const uint8_t *from, size_t bytes) {
    int8_t room[BYTES] = {0};
    if (bytes >= BYTES) {
        return vld1q_s8((const int8_t *)from);
    }
    memcpy(room, from, bytes);
    return vld1q_s8(room);
}

static inline int8x16_t larger(int8x16_t most, int8x16_t other, bool floats) {
    const float32x4_t y = vreinterpretq_f32_s8(most);
    const float32x4_t x = vreinterpretq_f32_s8(other);
    return floats ? vreinterpretq_s8_f32(vbslq_f32(vcgtq_f32(x, y), x, y))
                  : vmaxq_s8(most, other);
}

// Where taps [y0, y1) x [x0, x1) of a window are, relative to its first one.
typedef struct taps {
    const uint8_t *first;
    int32_t height;
    int32_t width;
} taps_t;

static taps_t taps_of(const walk_t *walk, const uint8_t *image, int32_t oy,
                      int32_t ox) {
    int32_t y0, y1, x0, x1;
    const ember_xnn_axis_t *down = &walk->window.y, *across = &walk->window.x;
    const int32_t top = xnn_taps(down, oy, &y0, &y1);
    const int32_t left = xnn_taps(across, ox, &x0, &x1);
    if (y1 <= y0 || x1 <= x0) {
        return (taps_t){NULL, 0, 0};
    }
    return (taps_t){.first = image + (size_t)(top + y0 * down->dilation) * walk->line +
                             (size_t)(left + x0 * across->dilation) * walk->pixel,
                    .height = y1 - y0,
                    .width = x1 - x0};
}

// The maximum of channels from byte `at` on; without taps: zero.
static inline int8x16_t most_of(const walk_t *walk, const taps_t *taps, size_t at) {
    const size_t down = (size_t)walk->window.y.dilation * walk->line;
    const size_t across = (size_t)walk->window.x.dilation * walk->pixel;
    const int32_t zero = walk->floats ? 0 : walk->node->out[0]->zero;
    int8x16_t most = vdupq_n_s8((int8_t)zero);
    for (int32_t y = 0; y < taps->height; y++) {
        const uint8_t *from = taps->first + (size_t)y * down + at;
        for (int32_t x = 0; x < taps->width; x++, from += across) {
            const int8x16_t tap = load(from, walk->pixel);
            most = x + y == 0 ? tap : larger(most, tap, walk->floats);
        }
    }
    return most;
}

static void put_pixel(const walk_t *walk, const taps_t *taps, uint8_t *to) {
    const size_t bytes = walk->pixel;
    for (size_t c = 0; c < bytes; c += BYTES) {
        const size_t at = c + BYTES > bytes && bytes >= BYTES ? bytes - BYTES : c;
        int8x16_t most = most_of(walk, taps, at);
        if (walk->floats) {
            const float32x4_t x = vreinterpretq_f32_s8(most);
            most = vreinterpretq_s8_f32(xnn_neon_clamp(x, walk->node));
        }
        memcpy(to + at, &most, bytes < BYTES ? bytes : BYTES);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    walk_t walk = {.node = node, .floats = node->in[0]->datatype == XNN_F32};
    const ember_xnn_window_t *window = &walk.window;
    (void)!ember_xnn_window_read(node, &walk.window);
    walk.pixel = (size_t)window->channels * (walk.floats ? sizeof(float) : 1);
    walk.line = walk.pixel * (uint32_t)window->x.in;
    const uint8_t *image = node->in[0]->constant;
    uint8_t *to = node->out[0]->data;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t oy = 0; oy < window->y.out; oy++) {
            for (int32_t ox = 0; ox < window->x.out; ox++, to += walk.pixel) {
                const taps_t taps = taps_of(&walk, image, oy, ox);
                put_pixel(&walk, &taps, to);
            }
        }
        image += walk.line * (uint32_t)window->y.in;
    }
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, max_pooling_2d_neon, NULL, ember_xnn_pool_shape,
               XNN_KIND(MAX_POOLING_2D));
