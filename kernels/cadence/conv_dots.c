// SPDX-License-Identifier: Apache-2.0
// Quantised convolutions of int8 with the instructions of a core: the elements under
// the taps of an output are copied side by side, and multiplied with all filters of
// their group. Contract: dots.h.
#include <stddef.h>
#include <string.h>

#include "kernels/cadence/dots.h"

ember_status_t ember_conv_dots_prepare(ember_cadence_conv_dots_t *s, ember_node_t *node,
                                       const ember_dots_t *dots) {
    const ember_cadence_conv_t *conv = &s->conv;
    const size_t sums = (size_t)conv->filters * sizeof(int32_t);
    const size_t working = dots->bytes(conv->inner, conv->filters);

    if (conv->x_dtype != EMBER_S8 || conv->w_dtype != EMBER_S8 || !conv->whole ||
        conv->tap != 1 || conv->w_zero.whole < INT8_MIN ||
        conv->w_zero.whole > INT8_MAX) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence convolution: not int8");
    }
    s->sums = ember_node_scratch(node, sums + working + (size_t)conv->inner);
    s->working = s->sums == NULL ? NULL : s->sums + conv->filters;
    s->patch = s->sums == NULL ? NULL : (int8_t *)s->working + working;
    return ember_node_status(node);
}

// Taps [first, past) of an output that lie in the image; `at` is the first's position.
typedef struct taps {
    int32_t first;
    int32_t past;
    int32_t at;
} taps_t;

static taps_t taps_of(const ember_cadence_axis_t *axis, int32_t out) {
    taps_t taps = {0, axis->kernel, 0};

    while (taps.first < taps.past &&
           ember_cadence_tap(axis, false, out, taps.first) < 0) {
        taps.first++;
    }
    while (taps.past > taps.first &&
           ember_cadence_tap(axis, false, out, taps.past - 1) < 0) {
        taps.past--;
    }
    taps.at = out * axis->stride - axis->padding + taps.first * axis->dilation;
    return taps;
}

// A row of taps of one channel, or of all channels of a group.
static void copy_row(const ember_cadence_conv_t *conv, const int8_t *x, taps_t across,
                     int8_t *patch) {
    const int32_t depth = conv->window.last ? conv->depth : 1;
    const int32_t step = conv->window.width.dilation * conv->window.x.column;
    const int32_t taps = across.past - across.first;

    patch += across.first * depth;
    if (step == depth) { // neighbours in the image, too
        memcpy(patch, x, (size_t)(taps * depth));
        return;
    }
    for (int32_t i = 0; i < taps; i++) {
        memcpy(patch, x, (size_t)depth);
        patch += depth;
        x += step;
    }
}

static void fill(const ember_cadence_conv_dots_t *s, const int8_t *x, taps_t down,
                 taps_t across) {
    const ember_cadence_conv_t *conv = &s->conv;
    const ember_cadence_window_t *window = &conv->window;
    const int32_t channels = window->last ? 1 : conv->depth;
    const int32_t row = window->width.kernel * (window->last ? conv->depth : 1);
    const int32_t plane = row * window->height.kernel;
    const int32_t taps = (down.past - down.first) * (across.past - across.first);

    if (taps != window->height.kernel * window->width.kernel) {
        memset(s->patch, (uint8_t)conv->x_zero, (size_t)conv->inner);
    }
    x += down.at * window->x.row + across.at * window->x.column;
    for (int32_t c = 0; c < channels && taps > 0; c++) {
        const int8_t *from = x + c * window->x.channel;
        int8_t *to = s->patch + c * plane + down.first * row;
        for (int32_t ky = down.first; ky < down.past; ky++) {
            copy_row(conv, from, across, to);
            from += window->height.dilation * window->x.row;
            to += row;
        }
    }
}

static void scale(const ember_cadence_conv_dots_t *s, int32_t first, int32_t count,
                  int8_t *y) {
    const ember_cadence_conv_t *conv = &s->conv;
    const float bias_scale = ember_cadence_real(&conv->scale, 0);

    for (int32_t f = 0; f < count; f++) {
        const float sum = (float)(s->sums[f] + conv->bias[first + f]);
        const float real = bias_scale * sum * conv->inverse;
        y[(first + f) * conv->window.y.channel] =
            (int8_t)ember_cadence_cut_of(&conv->cut, real);
    }
}

static void run_pixel(const ember_cadence_conv_dots_t *s, const ember_dots_t *dots,
                      const ember_dots_task_t *task, const int8_t *x, int8_t *y,
                      taps_t down, taps_t across) {
    const ember_cadence_conv_t *conv = &s->conv;
    const int32_t each = conv->filters / conv->groups;

    for (int32_t group = 0; group < conv->groups; group++) {
        fill(s, x + group * conv->depth * conv->window.x.channel, down, across);
        dots->sums(task, s->patch, group * each, each, s->sums);
        scale(s, group * each, each, y);
    }
}

void ember_conv_dots_run(const ember_cadence_conv_dots_t *s, const ember_dots_t *dots) {
    const ember_cadence_conv_t *conv = &s->conv;
    const ember_cadence_window_t *window = &conv->window;
    const ember_dots_task_t task = {
        .b = conv->w,
        .count = conv->filters,
        .inner = conv->inner,
        .a_offset = (int16_t)-conv->x_zero,
        .b_offset = (int16_t)-conv->w_zero.whole,
        .scratch = s->working,
    };

    dots->start(&task);
    for (int32_t n = 0; n < window->batches; n++) {
        const int8_t *x = (const int8_t *)conv->x + (ptrdiff_t)n * window->x.batch;
        int8_t *y = (int8_t *)conv->y + (ptrdiff_t)n * window->y.batch;
        for (int32_t oy = 0; oy < window->height.out; oy++) {
            const taps_t down = taps_of(&window->height, oy);
            for (int32_t ox = 0; ox < window->width.out; ox++) {
                run_pixel(s, dots, &task, x,
                          y + oy * window->y.row + ox * window->y.column, down,
                          taps_of(&window->width, ox));
            }
        }
    }
}
