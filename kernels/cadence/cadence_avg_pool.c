// SPDX-License-Identifier: Apache-2.0
// cadence::avg_pool2d: means of windows, of float32 in the dialect's order, or of bytes
// with a zero point as padding.
#include "kernels/cadence/pool.h"

enum { X, KERNEL, STRIDE, PADDING, CEIL, COUNT_PADDING, DIVISOR, ZERO, LAST, Y };

typedef struct avg_pool {
    ember_cadence_pool_t pool;
    ember_cadence_number_t zero;
    ember_cadence_cut_t cut; // of bytes
    int32_t divisor;         // 0: the size of the window
    bool count_padding;
    uint8_t dtype;
} avg_pool_t;

// Positions [first, past) of an axis.
typedef struct span {
    int32_t first;
    int32_t past;
} span_t;

static span_t span_of(const ember_cadence_axis_t *axis, int32_t out) {
    const int32_t from = out * axis->stride - axis->padding;
    const int32_t past = from + axis->kernel;
    return (span_t){from < 0 ? 0 : from, past < axis->in ? past : axis->in};
}

static float scale_of(const avg_pool_t *s, int32_t count) {
    const ember_cadence_window_t *window = &s->pool.window;
    const int32_t all = window->height.kernel * window->width.kernel;

    if (s->divisor != 0 || s->count_padding) {
        return 1.0f / (float)(s->divisor != 0 ? s->divisor : all);
    }
    return 1.0f / (float)count;
}

static void run_window(const avg_pool_t *s, uint32_t x, uint32_t y, span_t down,
                       span_t across) {
    const ember_cadence_window_t *window = &s->pool.window;
    const int32_t count = (down.past - down.first) * (across.past - across.first);
    const int32_t padded = window->height.kernel * window->width.kernel - count;
    const uint32_t zero = (uint32_t)ember_cadence_whole(&s->zero, 0);
    uint32_t sum = s->count_padding ? zero * (uint32_t)padded : 0;
    float real = (float)(int32_t)sum;

    for (int32_t row = down.first; row < down.past; row++) {
        for (int32_t column = across.first; column < across.past; column++) {
            const uint32_t at = x + (uint32_t)(row * window->x.row) +
                                (uint32_t)(column * window->x.column);
            if (s->dtype == EMBER_F32) {
                real += ((const float *)(const void *)s->pool.x)[at];
            } else {
                sum += (uint32_t)ember_cadence_element(s->pool.x, s->dtype, at);
            }
        }
    }
    if (s->dtype == EMBER_F32) {
        ((float *)(void *)s->pool.y)[y] = real * scale_of(s, count);
        return;
    }
    const float mean = (float)(int32_t)sum * scale_of(s, count);
    s->pool.y[y] = (uint8_t)ember_cadence_cut_of(&s->cut, mean);
}

static int32_t run(void *state) {
    const avg_pool_t *s = state;
    const ember_cadence_window_t *window = &s->pool.window;

    for (int32_t n = 0; n < window->batches; n++) {
        for (int32_t c = 0; c < window->channels; c++) {
            const int32_t x = n * window->x.batch + c * window->x.channel;
            const int32_t y = n * window->y.batch + c * window->y.channel;
            for (int32_t oy = 0; oy < window->height.out; oy++) {
                for (int32_t ox = 0; ox < window->width.out; ox++) {
                    const int32_t to = oy * window->y.row + ox * window->y.column;
                    run_window(s, (uint32_t)x, (uint32_t)(y + to),
                               span_of(&window->height, oy),
                               span_of(&window->width, ox));
                }
            }
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    static const ember_cadence_pool_args_t args = {
        KERNEL, {STRIDE, PADDING, 0, 0, CEIL}, Y, true};
    avg_pool_t *s = state;
    const bool last = ember_node_bool(node, LAST);
    const bool zero = ember_node_kind(node, ZERO) == EMBER_TENSOR;

    s->count_padding = ember_node_bool(node, COUNT_PADDING);
    s->divisor = ember_node_kind(node, DIVISOR) == EMBER_NONE
                     ? 0
                     : ember_node_int_in(node, DIVISOR, 1, INT32_MAX);
    s->zero = (ember_cadence_number_t){0};
    if (zero) {
        s->zero = ember_cadence_whole_arg(node, ZERO, 1);
    }
    const ember_status_t status =
        ember_cadence_pool(&s->pool, node, &args, last, &s->dtype);
    if (status != EMBER_OK || s->dtype == EMBER_F32) {
        return status;
    }
    return ember_cadence_cut_set(&s->cut, s->dtype, 0) ? EMBER_OK : EMBER_UNSUPPORTED;
}

EMBER_KERNEL(cadence_avg_pool, avg_pool_t);
