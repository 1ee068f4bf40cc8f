// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_transpose_conv2d.out
//
// An output is a sum over the taps whose distance from it is a multiple of the stride.
// They are the same for all filters, so they are listed first.
#include <stddef.h>

#include "kernels/engine/int8/conv_s8.h"

enum { MOST_TAPS = 1 << 16 };

// A tap of an output: offsets of its first channel.
typedef struct {
    int32_t x;
    int32_t w;
} tap_t;

typedef struct {
    ember_conv_s8_t conv;
    tap_t *taps; // (height.kernel * width.kernel,)
} state_t;

// The position of the image under tap `k` of output `at`, or -1.
static int32_t source(const ember_conv_s8_axis_t *axis, int32_t at, int32_t k) {
    const int32_t distance = at + axis->padding - k * axis->dilation;

    if (distance < 0 || distance % axis->stride != 0) {
        return -1;
    }
    const int32_t from = distance / axis->stride;
    return from < axis->in ? from : -1;
}

static int32_t list_taps(const state_t *s, int32_t oy, int32_t ox) {
    const ember_conv_s8_t *conv = &s->conv;
    int32_t count = 0;

    for (int32_t ky = 0; ky < conv->height.kernel; ky++) {
        const int32_t iy = source(&conv->height, oy, ky);
        for (int32_t kx = 0; iy >= 0 && kx < conv->width.kernel; kx++) {
            const int32_t ix = source(&conv->width, ox, kx);
            if (ix >= 0) {
                s->taps[count].x = (iy * conv->width.in + ix) * conv->depth;
                s->taps[count].w = (ky * conv->width.kernel + kx) * conv->depth;
                count++;
            }
        }
    }
    return count;
}

static uint32_t sum_taps(const state_t *s, int32_t count, const int8_t *x,
                         const int8_t *w) {
    const int32_t offset = s->conv.x_offset;
    uint32_t sum = 0;

    for (int32_t t = 0; t < count; t++) {
        const int8_t *a = x + s->taps[t].x;
        const int8_t *b = w + s->taps[t].w;
        for (int32_t c = 0; c < s->conv.depth; c++) {
            sum += (uint32_t)((a[c] + offset) * b[c]);
        }
    }
    return sum;
}

static void run_image(const state_t *s, const int8_t *x, int8_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const ptrdiff_t filter =
        (ptrdiff_t)conv->height.kernel * conv->width.kernel * conv->depth;

    for (int32_t oy = 0; oy < conv->height.out; oy++) {
        for (int32_t ox = 0; ox < conv->width.out; ox++) {
            const int32_t count = list_taps(s, oy, ox);
            for (int32_t f = 0; f < conv->filters; f++) {
                const uint32_t sum = sum_taps(s, count, x, conv->w + f * filter);
                *y++ = ember_scaled_s8(&conv->scales, f, sum);
            }
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ember_conv_s8_t *conv = &s->conv;

    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(
            s, conv->x + (ptrdiff_t)n * conv->height.in * conv->width.in * conv->depth,
            conv->y +
                (ptrdiff_t)n * conv->height.out * conv->width.out * conv->filters);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const ember_status_t status = ember_conv_s8_transposed_args(&s->conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    const int64_t taps = ember_conv_s8_taps(&s->conv);
    if (s->conv.depth != s->conv.channels || taps > MOST_TAPS) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: wrong number of groups or taps");
    }
    s->taps = ember_node_scratch(node, (size_t)taps * sizeof(tap_t));
    return ember_node_status(node);
}

EMBER_KERNEL(quantized_transpose_conv2d, state_t);
