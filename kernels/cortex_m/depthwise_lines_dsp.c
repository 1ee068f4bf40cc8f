// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions line by line. Contract: depthwise_lines_dsp.h.
#include "kernels/cortex_m/depthwise_lines_dsp.h"

#include <stddef.h>

#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = 4, TAPS = 3, WEIGHTS = 6 }; // words of a channel's weights

// An image as lines, and the outputs.
typedef struct {
    const ember_conv_s8_axis_t *along;  // a line
    const ember_conv_s8_axis_t *across; // from line to line
    int32_t step, pitch;                // bytes between elements and lines of x
    int32_t y_step, y_pitch;
    int32_t tap, line_of_taps; // from weight to weight, in both directions
} view_t;

// One of four channels.
typedef struct {
    uint32_t weights[WEIGHTS]; // of each line of taps: 0 and 1, 1 and 2
    ember_scale_dsp_t by;
    int32_t bias;
} channel_t;

static view_t view_of(const ember_conv_s8_t *conv, bool down) {
    const int32_t width = conv->width.in * conv->channels;
    const int32_t y_width = conv->width.out * conv->channels;
    const int32_t each = conv->channels;

    if (down) {
        return (view_t){&conv->height, &conv->width, width,    each,
                        y_width,       each,         3 * each, each};
    }
    return (view_t){&conv->width, &conv->height, each, width,
                    each,         y_width,       each, 3 * each};
}

// Steps of a line: two outputs, or one where they lie two elements apart.
static int32_t steps_of(const ember_conv_s8_axis_t *along) {
    return along->stride == 1 ? (along->out + 1) / 2 : along->out;
}

// --- lines ---------------------------------------------------------------------------

// What elements beside the image are: 0 with the offset.
static uint32_t outside(const ember_conv_s8_t *conv) {
    return (uint8_t)-conv->x_offset * 0x01010101u;
}

// Words `at` of the four channels, from elements of theirs that follow each other.
INLINE void put(uint32_t *at, int32_t each, uint32_t offset, uint32_t a, uint32_t b) {
    const uint32_t a02 = ember_sxtab16(offset, a), a13 = ember_sxtab16_odd(offset, a);
    const uint32_t b02 = ember_sxtab16(offset, b), b13 = ember_sxtab16_odd(offset, b);
    at[0] = (a02 & 0xffff) | b02 << 16;
    at[each] = (a13 & 0xffff) | b13 << 16;
    at[2 * each] = a02 >> 16 | (b02 & 0xffff0000);
    at[3 * each] = a13 >> 16 | (b13 & 0xffff0000);
}

// Makes a line of words from the elements that start at `x`.
FAST void widen(const ember_lines_dsp_t *s, const view_t *view, uint32_t offset,
                uint32_t beside, const int8_t *x, uint32_t *to) {
    const int32_t step = view->step, each = s->words_each, in = view->along->in;
    const uint32_t *const end = to + each;
    int32_t at = -view->along->padding;

    for (; to != end; to++) {
        uint32_t a = beside, b = beside;
        if (at >= 0 && at < in) {
            a = ember_word_dsp(x + at * step);
        }
        at++;
        if (at >= 0 && at < in) {
            b = ember_word_dsp(x + at * step);
        }
        at++;
        put(to, each, offset, a, b);
    }
}

FAST void scale(const int32_t *sums, int32_t count, const channel_t *channel, int8_t *y,
                ptrdiff_t step) {
    const ember_scale_dsp_t by = channel->by;
    const int32_t twice = 2 * channel->bias;

    for (; count > 1; count -= 2) {
        const int32_t first = ember_add_twice(twice, sums[0]);
        const int32_t second = ember_add_twice(twice, sums[1]);
        y[0] = (int8_t)ember_scaled_half_dsp(first, by);
        y[step] = (int8_t)ember_scaled_half_dsp(second, by);
        sums += 2;
        y += 2 * step;
    }
    if (count > 0) {
        *y = (int8_t)ember_scaled_half_dsp(ember_add_twice(twice, *sums), by);
    }
}

SMALL static void limit(int8_t *y, int32_t count, ptrdiff_t step,
                        ember_limits_s8_t limits) {
    for (; count > 0; count--) {
        for (int32_t c = 0; c < FOUR; c++) {
            y[c] = ember_limit_s8(y[c], limits);
        }
        y += step;
    }
}

// --- images --------------------------------------------------------------------------

static void set_channel(const ember_conv_s8_t *conv, const view_t *view, int32_t at,
                        channel_t *channel) {
    const ember_scales_s8_t *scales = &conv->scales;
    const int8_t *w = conv->w + at;

    for (int32_t i = 0; i < TAPS; i++) {
        const int8_t *line = w + i * view->line_of_taps;
        const uint32_t second = (uint32_t)(uint16_t)line[view->tap];
        channel->weights[2 * i] = (uint32_t)(uint16_t)line[0] | second << 16;
        channel->weights[2 * i + 1] = second | (uint32_t)line[2 * view->tap] << 16;
    }
    channel->by = ember_scale_dsp(scales->multipliers[at], scales->shifts[at],
                                  scales->zero_point);
    channel->bias = scales->bias == NULL ? 0 : scales->bias[at];
}

static void run_image(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv,
                      const view_t *view, const channel_t *channels, const int8_t *x,
                      int8_t *y) {
    const ember_scales_s8_t *scales = &conv->scales;
    const bool limited =
        scales->limits.low > INT8_MIN || scales->limits.high < INT8_MAX;
    const ember_conv_s8_axis_t *across = view->across;
    const uint32_t offset = ember_both_dsp(conv->x_offset), beside = outside(conv);
    const int32_t each = s->words_each, steps = steps_of(view->along);
    uint32_t *lines[TAPS] = {s->words, s->words + FOUR * each,
                             s->words + 2 * FOUR * each};
    int32_t *const sums = (int32_t *)(s->words + TAPS * FOUR * each);
    int32_t made = -across->padding; // lines before this one are words already

    for (int32_t out = 0; out < across->out; out++) {
        const int32_t first = out * across->stride - across->padding;
        made = made < first ? first : made;
        for (; made < first + TAPS; made++) {
            uint32_t *const oldest = lines[0];
            const bool inside = made >= 0 && made < across->in;
            lines[0] = lines[1];
            lines[1] = lines[2];
            lines[2] = oldest;
            if (inside) {
                widen(s, view, offset, beside, x + made * view->pitch, oldest);
            } else {
                memset(oldest, 0, (size_t)each * FOUR * sizeof(*oldest));
            }
        }
        for (int32_t c = 0; c < FOUR; c++) {
            const int32_t from = c * each;
            if (view->along->stride == 1) {
                ember_line_1_dsp(sums, lines[0] + from, lines[1] + from,
                                 lines[2] + from, channels[c].weights, steps);
            } else {
                ember_line_2_dsp(sums, lines[0] + from, lines[1] + from,
                                 lines[2] + from, channels[c].weights, steps);
            }
            scale(sums, view->along->out, &channels[c], y + c, view->y_step);
        }
        if (limited) {
            limit(y, view->along->out, view->y_step, scales->limits);
        }
        y += view->y_pitch;
    }
}

SMALL void ember_lines_dsp_run(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv,
                               int32_t first) {
    const view_t view = view_of(conv, s->down);
    const ptrdiff_t x_image =
        (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
    const ptrdiff_t y_image =
        (ptrdiff_t)conv->height.out * conv->width.out * conv->channels;
    channel_t channels[FOUR];

    for (int32_t c = 0; c < FOUR; c++) {
        set_channel(conv, &view, first + c, &channels[c]);
    }
    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(s, conv, &view, channels, conv->x + first + n * x_image,
                  conv->y + first + n * y_image);
    }
}

// --- fitting -------------------------------------------------------------------------

static bool is_three(const ember_conv_s8_axis_t *axis) {
    return axis->kernel == TAPS && axis->dilation == 1;
}

SMALL bool ember_lines_dsp_fit(const ember_conv_s8_t *conv) {
    return is_three(&conv->height) && is_three(&conv->width) &&
           (conv->height.stride <= 2 || conv->width.stride <= 2);
}

SMALL int32_t ember_lines_dsp_measure(ember_lines_dsp_t *s,
                                      const ember_conv_s8_t *conv) {
    const bool taller = conv->height.out > conv->width.out;

    s->down = conv->height.stride <= 2 && (taller || conv->width.stride > 2);
    const int32_t steps = steps_of(s->down ? &conv->height : &conv->width);
    s->words_each = steps + 1;
    return (s->words_each * TAPS * FOUR + 2 * steps) * (int32_t)sizeof(uint32_t);
}
