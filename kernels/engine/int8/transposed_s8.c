// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions as plain ones. Contract: transposed_s8.h.
#include "kernels/engine/int8/transposed_s8.h"

#include <stddef.h>
#include <string.h>

// Taps of the kernel for outputs with one remainder: the last of them, which is at the
// first position of the image, and the distance to the one before.
typedef struct {
    int32_t last;
    int32_t step;
} taps_t;

// The axis of outputs at, at + stride, .., in the order of positions.
static ember_conv_s8_axis_t plain_axis(const ember_conv_s8_axis_t *axis, int32_t at,
                                       taps_t *taps) {
    const int32_t from = at + axis->padding;
    ember_conv_s8_axis_t plain = {
        .in = axis->in,
        .out = (axis->out - at - 1) / axis->stride + 1,
        .stride = 1,
        .dilation = 1,
    };

    *taps = (taps_t){0, 0};
    for (int32_t k = 0; k < axis->kernel; k++) {
        const int32_t distance = from - k * axis->dilation;
        if (distance % axis->stride == 0) {
            *taps = (taps_t){k, k - taps->last};
            plain.dilation = -distance / axis->stride - plain.padding;
            plain.padding = -distance / axis->stride;
            plain.kernel++;
        }
    }
    plain.dilation = plain.kernel > 1 ? plain.dilation : 1;
    return plain;
}

static void copy(int8_t *to, const int8_t *from, int32_t count) {
    for (; count >= 4; count -= 4) {
        memcpy(to, from, 4);
        to += 4;
        from += 4;
    }
    for (; count > 0; count--) {
        *to++ = *from++;
    }
}

void ember_transposed_s8_part(const ember_conv_s8_t *conv, int32_t y, int32_t x,
                              ember_conv_s8_t *part, int8_t *weights) {
    const int32_t depth = conv->depth;
    const int32_t row = conv->width.kernel * depth;
    taps_t down, across;

    *part = *conv;
    part->height = plain_axis(&conv->height, y, &down);
    part->width = plain_axis(&conv->width, x, &across);
    part->y = conv->y + ((ptrdiff_t)y * conv->width.out + x) * conv->filters;
    part->w = weights;
    for (int32_t f = 0; f < conv->filters; f++) {
        const int8_t *w = conv->w + (ptrdiff_t)f * conv->height.kernel * row;
        for (int32_t i = 0; i < part->height.kernel; i++) {
            const int8_t *from = w + (down.last - i * down.step) * row;
            for (int32_t j = 0; j < part->width.kernel; j++) {
                copy(weights, from + (across.last - j * across.step) * depth, depth);
                weights += depth;
            }
        }
    }
}

ember_steps_s8_t ember_transposed_s8_steps(const ember_conv_s8_t *conv) {
    const int32_t row = conv->width.out * conv->filters;
    return (ember_steps_s8_t){
        .column = conv->width.stride * conv->filters,
        .row = conv->height.stride * row,
        .image = conv->height.out * row,
    };
}

static int32_t most_taps(const ember_conv_s8_axis_t *axis) {
    int32_t step = 1; // taps of the same outputs are a multiple of this apart
    while (step < axis->kernel && step * (int64_t)axis->dilation % axis->stride != 0) {
        step++;
    }
    return (axis->kernel - 1) / step + 1;
}

int32_t ember_transposed_s8_taps(const ember_conv_s8_t *conv) {
    return most_taps(&conv->height) * most_taps(&conv->width);
}
