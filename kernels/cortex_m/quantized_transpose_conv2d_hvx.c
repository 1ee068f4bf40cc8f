// SPDX-License-Identifier: Apache-2.0
// quantized_transpose_conv2d_hvx: with Hexagon's vectors, as a plain convolution with
// the taps turned round of an image whose pixels stand a stride apart.
#include <stddef.h>
#include <string.h>

#include "kernels/engine/hvx/columns_hvx.h"

enum { ROW_PACKETS = 150 }; // of the image, spread

typedef struct state {
    ember_conv_s8_t conv;
    ember_columns_hvx_t columns;
} state_t;

// The weights with their taps in the opposite order.
static void turn(const ember_conv_s8_t *conv, int8_t *to) {
    const int32_t taps = conv->height.kernel * conv->width.kernel;
    const size_t depth = (size_t)conv->depth;
    const int8_t *from = conv->w;

    for (int32_t f = 0; f < conv->filters; f++) {
        int8_t *last = to + (size_t)taps * depth;
        for (int32_t t = 0; t < taps; t++) {
            last -= depth;
            memcpy(last, from, depth);
            from += depth;
        }
        to += (size_t)taps * depth;
    }
}

static int32_t run(void *state) {
    const state_t *s = state;

    turn(&s->conv, s->columns.room);
    ember_columns_hvx_run(&s->columns, NULL);
    return EMBER_OK;
}

// What portable C takes: its taps are those of a plain convolution from outputs to
// inputs.
static int64_t packets_of(const ember_conv_s8_t *conv) {
    ember_conv_s8_t plain = *conv;
    plain.height.in = conv->height.out;
    plain.height.out = conv->height.in;
    plain.width.in = conv->width.out;
    plain.width.out = conv->width.in;
    return ember_packets_of_conv(&plain);
}

// False when more is cut off than the taps add.
static bool spread(ember_conv_s8_axis_t *axis) {
    const int64_t padding =
        (axis->kernel - (int64_t)1) * axis->dilation - axis->padding;
    axis->padding = (int32_t)padding;
    axis->stride = 1;
    return padding >= 0;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const ember_status_t status = ember_conv_s8_transposed_args(&s->conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    ember_conv_s8_t plain = s->conv;
    const int64_t window = ember_conv_s8_taps(&plain) * plain.depth;
    const ember_columns_form_hvx_t form = {
        .rows_apart = plain.height.stride,
        .columns_apart = plain.width.stride,
        .room = window * plain.filters + EMBER_HVX,
    };
    const int64_t rows = (int64_t)plain.batches * plain.height.out;
    if (!ember_columns_hvx_pays(&plain, packets_of(&plain) - ROW_PACKETS * rows) ||
        !spread(&plain.height) || !spread(&plain.width)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: sizes");
    }
    const ember_status_t planned =
        ember_columns_hvx_prepare(&s->columns, node, &plain, &form);
    s->columns.filters.w = s->columns.room;
    return planned;
}

EMBER_KERNEL(quantized_transpose_conv2d_hvx, state_t);
