// SPDX-License-Identifier: Apache-2.0
// Convolutions in plain C whose output may be in the place of the input: the rows under
// the taps are copied before outputs overwrite them. Contract: conv_s8_run.h.
#include <stddef.h>
#include <string.h>

#include "kernels/engine/int8/conv_s8_run.h"

// Rows of the image that one row of the output reads.
static int32_t extent_of(const ember_conv_s8_axis_t *height) {
    return (height->kernel - 1) * height->dilation + 1;
}

// Appends row `at` of the image to the others, if it exists.
static void push(const ember_conv_s8_plain_t *s, const int8_t *x, int32_t at) {
    const size_t pitch = (size_t)s->conv.width.in * (size_t)s->conv.channels;
    const size_t before = ((size_t)extent_of(&s->conv.height) - 1) * pitch;

    memmove(s->rows, s->rows + pitch, before);
    if (at >= 0 && at < s->conv.height.in) {
        memcpy(s->rows + before, x + (size_t)at * pitch, pitch);
    }
}

// The outputs of row `oy` from the rows; those outside the image are left out.
static void run_row(const ember_conv_s8_plain_t *s, int32_t oy, int8_t *y,
                    bool depthwise) {
    const ember_conv_s8_axis_t *height = &s->conv.height;
    const ptrdiff_t pitch = (ptrdiff_t)s->conv.width.in * s->conv.channels;
    const int32_t first = oy - height->padding;
    const int32_t past = first + extent_of(height);
    const int32_t before = first < 0 ? -first : 0;
    ember_conv_s8_t row = s->conv;

    row.batches = 1;
    row.height.out = 1;
    row.height.padding = before;
    row.height.in = (past < height->in ? past : height->in) - first - before;
    row.x = s->rows + before * pitch;
    row.y = y;
    ember_conv_s8_run(&row, depthwise);
}

static void run_over(const ember_conv_s8_plain_t *s, bool depthwise) {
    const ember_conv_s8_axis_t *height = &s->conv.height;
    const ptrdiff_t pitch = (ptrdiff_t)s->conv.width.in * s->conv.channels;
    int8_t *image = s->conv.y;

    for (int32_t n = 0; n < s->conv.batches; n++) {
        int32_t next = -height->padding;
        for (int32_t oy = 0; oy < height->out; oy++) {
            for (; next < oy - height->padding + extent_of(height); next++) {
                push(s, image, next);
            }
            run_row(s, oy, image + oy * pitch, depthwise);
        }
        image += height->in * pitch;
    }
}

void ember_conv_s8_plain_run(const ember_conv_s8_plain_t *s, bool depthwise) {
    if (s->conv.over) {
        run_over(s, depthwise);
    } else {
        ember_conv_s8_run(&s->conv, depthwise);
    }
}

ember_status_t ember_conv_s8_plain_prepare(ember_conv_s8_plain_t *s,
                                           ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->conv;
    const int64_t row = (int64_t)conv->width.in * conv->channels;

    s->rows = NULL;
    if (conv->over) { // the rows under a window are kept in scratch
        s->rows = ember_node_scratch(node, (size_t)(extent_of(&conv->height) * row));
        ember_node_work(node, (uint32_t)(conv->batches * conv->height.in + 1),
                        (uint32_t)(extent_of(&conv->height) * row));
    }
    return ember_node_status(node);
}
