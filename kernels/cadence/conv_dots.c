// SPDX-License-Identifier: Apache-2.0
// Quantised convolutions of int8 with the instructions of a core: the elements under
// the taps of an output are copied side by side, and multiplied with all filters of
// their group. Contract: dots.h.
#include <stddef.h>
#include <string.h>

#include "kernels/cadence/dots.h"

enum { COLUMNS = 3, COMMON = 3, SHORT = 16 }; // outputs at once; taps; bytes

// Whether three outputs are computed at once.
static bool takes_three(const ember_cadence_conv_t *conv, const ember_dots_t *dots) {
    return dots->three != NULL && conv->w_zero.whole == 0 && conv->inner % 4 == 0 &&
           conv->filters / conv->groups % 2 == 0;
}

ember_status_t ember_conv_dots_prepare(ember_cadence_conv_dots_t *s, ember_node_t *node,
                                       const ember_dots_t *dots) {
    const ember_cadence_conv_t *conv = &s->conv;
    const size_t sums = (size_t)conv->filters * sizeof(int32_t);
    const size_t one = dots->bytes(conv->inner, conv->filters);

    if (conv->x_dtype != EMBER_S8 || conv->w_dtype != EMBER_S8 || !conv->whole ||
        conv->tap != 1 || conv->w_zero.whole < INT8_MIN ||
        conv->w_zero.whole > INT8_MAX) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence convolution: not int8");
    }
    s->columns = takes_three(conv, dots) ? COLUMNS : 1;
    const size_t three = s->columns == 1 ? 0 : dots->bytes_three(conv->inner);
    const size_t working = three > one ? three : one;
    const size_t columns = (size_t)s->columns;
    s->sums =
        ember_node_scratch(node, columns * (sums + (size_t)conv->inner) + working);
    s->working = s->sums == NULL ? NULL : s->sums + s->columns * conv->filters;
    s->patch = s->sums == NULL ? NULL : (int8_t *)s->working + working;
    return ember_node_status(node);
}

// Taps [first, past) of an output that are inside the image; `at` is the first's
// position.
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

static void copy(int8_t *to, const int8_t *from, int32_t count) {
    if (count >= SHORT) {
        memcpy(to, from, (size_t)count);
        return;
    }
    for (; count > 0; count--) {
        *to++ = *from++;
    }
}

// A row of taps of all channels of a group, which lie side by side.
static void copy_row(const ember_cadence_conv_t *conv, const int8_t *x, int32_t taps,
                     int8_t *patch) {
    const int32_t depth = conv->depth;
    const int32_t step = conv->window.width.dilation * conv->window.x.column;

    if (step == depth) { // neighbours in the image, too
        copy(patch, x, taps * depth);
        return;
    }
    for (int32_t i = 0; i < taps; i++) {
        copy(patch, x, depth);
        patch += depth;
        x += step;
    }
}

// An output and its taps inside the image.
typedef struct pixel {
    taps_t down;
    taps_t across;
    int8_t *y;
} pixel_t;

// Channels last: `patch` is that of the first tap in the image, as `x` is.
static void fill_last(const ember_cadence_conv_t *conv, const int8_t *x, int32_t rows,
                      int32_t taps, int8_t *patch) {
    const int32_t pitch = conv->window.height.dilation * conv->window.x.row;

    for (; rows > 0; rows--) {
        copy_row(conv, x, taps, patch);
        x += pitch;
        patch += conv->window.width.kernel * conv->depth;
    }
}

// The same of channels first.
static void fill_first(const ember_cadence_conv_t *conv, const int8_t *x, int32_t rows,
                       int32_t taps, int8_t *patch) {
    const ember_cadence_window_t *window = &conv->window;
    const int32_t pitch = window->height.dilation * window->x.row;
    const int32_t step = window->width.dilation;
    const int32_t row = window->width.kernel;
    const int32_t plane = window->height.kernel * row;

    for (int32_t c = conv->depth; c > 0; c--) {
        const int8_t *from = x;
        int8_t *to = patch;
        for (int32_t ky = rows; ky > 0; ky--) {
            if (taps == COMMON) {
                to[0] = from[0];
                to[1] = from[step];
                to[2] = from[2 * step];
            } else {
                for (int32_t kx = 0; kx < taps; kx++) {
                    to[kx] = from[kx * step];
                }
            }
            from += pitch;
            to += row;
        }
        x += window->x.channel;
        patch += plane;
    }
}

static void fill(const ember_cadence_conv_dots_t *s, const int8_t *x,
                 const pixel_t *pixel, int8_t *patch) {
    const ember_cadence_conv_t *conv = &s->conv;
    const ember_cadence_window_t *window = &conv->window;
    const taps_t down = pixel->down, across = pixel->across;
    const int32_t rows = down.past - down.first, taps = across.past - across.first;
    const int32_t first = down.first * window->width.kernel + across.first;

    if (rows * taps != window->height.kernel * window->width.kernel) {
        memset(patch, (uint8_t)conv->x_zero, (size_t)conv->inner);
    }
    if (rows == 0 || taps == 0) {
        return;
    }
    x += down.at * window->x.row + across.at * window->x.column;
    if (window->last) {
        fill_last(conv, x, rows, taps, patch + first * conv->depth);
    } else {
        fill_first(conv, x, rows, taps, patch + first);
    }
}

// Sums, to which the biases are added, become outputs of filters from `first` on.
static void scale(const ember_cadence_conv_t *conv, const int32_t *sums, int32_t first,
                  int32_t count, int8_t *y) {
    const float bias_scale = ember_cadence_real(&conv->scale, 0);
    const float inverse = conv->inverse;
    const ember_cadence_cut_t cut = conv->cut;
    const int32_t step = conv->window.y.channel;

    y += first * step;
    for (int32_t f = 0; f < count; f++) {
        const float real = bias_scale * (float)sums[f] * inverse;
        *y = (int8_t)ember_cadence_cut_of(&cut, real);
        y += step;
    }
}

static void run_one(const ember_cadence_conv_dots_t *s, const ember_dots_t *dots,
                    const ember_dots_task_t *task, const int8_t *x,
                    const pixel_t *pixel) {
    const ember_cadence_conv_t *conv = &s->conv;
    const int32_t each = conv->filters / conv->groups;

    for (int32_t group = 0; group < conv->groups; group++) {
        const int32_t first = group * each;
        fill(s, x + group * conv->depth * conv->window.x.channel, pixel, s->patch);
        dots->sums(task, s->patch, first, each, s->sums);
        for (int32_t f = 0; f < each; f++) {
            s->sums[f] += conv->bias[first + f];
        }
        scale(conv, s->sums, first, each, pixel->y);
    }
}

static void run_three(const ember_cadence_conv_dots_t *s, const ember_dots_t *dots,
                      const ember_dots_task_t *task, const int8_t *x,
                      const pixel_t pixels[COLUMNS]) {
    const ember_cadence_conv_t *conv = &s->conv;
    const int32_t each = conv->filters / conv->groups;

    for (int32_t group = 0; group < conv->groups; group++) {
        const int32_t first = group * each;
        const int8_t *from = x + group * conv->depth * conv->window.x.channel;
        for (int32_t n = 0; n < COLUMNS; n++) {
            fill(s, from, &pixels[n], s->patch + n * conv->inner);
        }
        dots->three(task, s->patch, first, each, conv->bias + first, s->sums);
        for (int32_t n = 0; n < COLUMNS; n++) {
            scale(conv, s->sums + n * each, first, each, pixels[n].y);
        }
    }
}

// The outputs of one image; those that three lack at its end are computed one by one.
static void run_image(const ember_cadence_conv_dots_t *s, const ember_dots_t *dots,
                      const ember_dots_task_t *task, const int8_t *x, int8_t *y) {
    const ember_cadence_window_t *window = &s->conv.window;
    pixel_t pixels[COLUMNS];
    int32_t count = 0;

    for (int32_t oy = 0; oy < window->height.out; oy++) {
        const taps_t down = taps_of(&window->height, oy);
        for (int32_t ox = 0; ox < window->width.out; ox++) {
            pixels[count++] = (pixel_t){down, taps_of(&window->width, ox),
                                        y + oy * window->y.row + ox * window->y.column};
            if (count < s->columns) {
                continue;
            }
            if (count == COLUMNS) {
                run_three(s, dots, task, x, pixels);
            } else {
                run_one(s, dots, task, x, pixels);
            }
            count = 0;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        run_one(s, dots, task, x, &pixels[i]);
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
        run_image(s, dots, &task, x, y);
    }
}
