// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_many_hvx: several filters per channel, with Hexagon's
// vectors, as one filter per channel of an image that has each channel as often.
#include <stddef.h>

#include "kernels/engine/hvx/depthwise_hvx.h"
#include "kernels/engine/hvx/worth_hvx.h"

enum { BYTES_MAX = 1 << 28, TWO = 2 };

typedef struct state {
    ember_depthwise_hvx_t plain;
    const int8_t *x;
    int32_t count; // elements of x
    int32_t times;
} state_t;

// Twice each: 128 elements become two vectors, whose last may reach behind the end.
static void repeat_twice(const state_t *s) {
    const int8_t *x = s->x;
    int8_t *to = s->plain.room;

    for (int32_t left = s->count; left > 0; left -= EMBER_HVX) {
        const HVX_Vector some = ember_load_left_hvx(x, left);
        const HVX_VectorPair both = Q6_W_vshuff_VVR(some, some, -1);
        ember_hvx_store_any(to, Q6_V_lo_W(both));
        ember_hvx_store_any(to + EMBER_HVX, Q6_V_hi_W(both));
        x += EMBER_HVX;
        to += TWO * EMBER_HVX;
    }
}

static void repeat(const state_t *s) {
    int8_t *to = s->plain.room;

    for (int32_t i = 0; i < s->count; i++) {
        const int8_t element = s->x[i];
        for (int32_t n = s->times; n > 0; n--) {
            *to++ = element;
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;

    if (s->times == TWO) {
        repeat_twice(s);
    } else {
        repeat(s);
    }
    ember_depthwise_hvx_run(&s->plain, NULL);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_conv_s8_t *conv = &s->plain.conv;
    const ember_status_t status = ember_conv_s8_depthwise_args(conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    const int64_t pixels = (int64_t)conv->batches * conv->height.in * conv->width.in;
    const int64_t bytes = pixels * conv->filters;
    if (bytes >= BYTES_MAX || conv->over ||
        ember_packets_of_depthwise(conv) < 2000 + 8 * bytes) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_depthwise: sizes");
    }
    s->x = conv->x;
    s->times = conv->filters / conv->channels;
    s->count = (int32_t)(pixels * conv->channels);
    conv->channels = conv->filters;
    const ember_status_t planned =
        ember_depthwise_hvx_prepare(&s->plain, node, bytes + TWO * EMBER_HVX);
    conv->x = s->plain.room;
    return planned;
}

EMBER_KERNEL(quantized_depthwise_conv2d_many_hvx, state_t);
