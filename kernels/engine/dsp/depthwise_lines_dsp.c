// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions line by line. Contract: depthwise_lines_dsp.h.
#include "kernels/engine/dsp/depthwise_lines_dsp.h"

#include <stddef.h>
#include <string.h>

#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4, TAPS = 3, WEIGHTS = EMBER_LINES_WEIGHTS };

// An image as lines, and the outputs.
typedef struct {
    const ember_conv_s8_axis_t *along;  // a line
    const ember_conv_s8_axis_t *across; // from line to line
    int32_t step, pitch;                // bytes between elements and lines of x
    int32_t y_step, y_pitch;
    int32_t tap, line_of_taps; // from weight to weight, in both directions
} view_t;

// What four channels are multiplied with.
typedef struct {
    uint32_t weights[FOUR * WEIGHTS]; // of each line of taps: 0 and 1, 1 and 2; those
                                      // of lines 0 and 1 a second time behind the third
    ember_filter_dsp_t by[FOUR];
} channels_t;

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

// Steps of a line: two outputs, or one where they are two elements apart.
static int32_t steps_of(const ember_conv_s8_axis_t *along) {
    return along->stride == 1 ? (along->out + 1) / 2 : along->out;
}

// --- lines ---------------------------------------------------------------------------

// A word of four channels with only one half, the upper or the lower one, in the image.
// Elements outside the image are 0.
FAST void widen_half(uint32_t *to, int32_t pitch, uint32_t offset, uint32_t word,
                     bool upper) {
    const uint32_t even = ember_sxtab16(offset, word);
    const uint32_t odd = ember_sxtab16_odd(offset, word);

    to[0] = upper ? even << 16 : even & 0xffff;
    to[pitch] = upper ? odd << 16 : odd & 0xffff;
    to[2 * pitch] = upper ? even & 0xffff0000 : even >> 16;
    to[3 * pitch] = upper ? odd & 0xffff0000 : odd >> 16;
}

// Makes a line of words from the elements that start at `x`. Words beside the image are
// 0 already.
static void widen(const ember_lines_dsp_t *s, const view_t *view, uint32_t offset,
                  const int8_t *x, uint32_t *to) {
    const int32_t pitch = s->words_each * TAPS;
    const int32_t in = view->along->in, padding = view->along->padding;
    const int8_t *from = x + (2 * s->inside - padding) * view->step;

    if (s->past > s->inside) {
        ember_lines_widen_dsp(to + s->inside * TAPS, pitch * (int32_t)sizeof(*to), from,
                              view->step, s->past - s->inside, offset);
    }
    if (padding % 2 != 0 && s->inside <= s->words_each) {
        widen_half(to + (s->inside - 1) * TAPS, pitch, offset, ember_word_dsp(x), true);
    }
    if ((in + padding) % 2 != 0 && s->past < s->words_each) {
        const int8_t *last = x + (in - 1) * view->step;
        widen_half(to + s->past * TAPS, pitch, offset, ember_word_dsp(last), false);
    }
}

// Makes a line of zeros.
FAST void clear(uint32_t *to, int32_t fours) {
    for (; fours > 0; fours--) {
        to[0] = to[TAPS] = to[2 * TAPS] = to[3 * TAPS] = 0;
        to += FOUR * TAPS;
    }
}

// Makes zeros of the words that no line of the image is widened to.
static void clear_sides(const ember_lines_dsp_t *s) {
    const size_t word = TAPS * sizeof(*s->words); // of all three lines
    const int32_t each = s->words_each;
    const int32_t inside = s->inside < each ? s->inside : each;
    const int32_t past = s->past > inside ? s->past : inside;
    const size_t before = (size_t)inside * word;
    const size_t behind = (size_t)(each - past) * word;
    uint32_t *to = s->words;

    for (int32_t c = 0; c < FOUR; c++) {
        memset(to, 0, before);
        to += past * TAPS;
        memset(to, 0, behind);
        to += (each - past) * TAPS;
    }
}

SMALL void ember_limit_fours_dsp(int8_t *y, int32_t count, ptrdiff_t step,
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
                        uint32_t *weights) {
    const int8_t *w = conv->w + at;

    for (int32_t i = 0; i < TAPS; i++) {
        const uint32_t second = (uint32_t)(uint16_t)w[view->tap];
        weights[2 * i] = (uint32_t)(uint16_t)w[0] | second << 16;
        weights[2 * i + 1] = second | (uint32_t)w[2 * view->tap] << 16;
        w += view->line_of_taps;
    }
    memcpy(weights + 2 * TAPS, weights, (WEIGHTS - 2 * TAPS) * sizeof(*weights));
}

static ember_lines_run_dsp_t run_of(const ember_lines_dsp_t *s,
                                    const ember_conv_s8_t *conv, const view_t *view,
                                    const channels_t *channels) {
    const int32_t out = view->along->out, steps = steps_of(view->along);
    const bool odd = view->along->stride == 1 && out % 2 != 0;

    return (ember_lines_run_dsp_t){
        .x = s->words,
        .by = channels->by,
        .step = view->y_step,
        .rounds = (steps - 1 - odd) * 256,
        .spare = odd ? 0 : view->y_step,
        .offset = 2 * conv->scales.zero_point + 1,
        .skip = (s->words_each - steps) * TAPS * (int32_t)sizeof(uint32_t),
    };
}

static void run_image(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv,
                      const ember_lines_ending_dsp_t *ending, const view_t *view,
                      const channels_t *channels, const int8_t *x, int8_t *y) {
    const ember_scales_s8_t *scales = &conv->scales;
    const ember_limits_s8_t limits = scales->limits;
    const ember_conv_s8_axis_t *across = view->across;
    const uint32_t offset = ember_both_dsp(conv->x_offset);
    ember_lines_run_dsp_t run = run_of(s, conv, view, channels);
    int32_t made = -across->padding; // lines before this one are words already
    int32_t slot = 0;                // where the next one goes, in place of the oldest

    for (int32_t out = 0; out < across->out; out++) {
        const int32_t first = out * across->stride - across->padding;
        made = made < first ? first : made;
        for (; made < first + TAPS; made++) {
            if (made >= 0 && made < across->in) {
                widen(s, view, offset, x + made * view->pitch, s->words + slot);
            } else {
                clear(s->words + slot, s->words_each);
            }
            slot = slot == TAPS - 1 ? 0 : slot + 1;
        }
        // The oldest line, that of the first taps, is in this slot.
        run.weights = channels->weights + (slot == 0 ? 0 : TAPS - slot) * 2;
        run.y = y;
        run.end = y + FOUR;
        if (view->along->stride == 1) {
            ending->pairs(scales, &run);
        } else {
            ending->every_second(scales, &run);
        }
        if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
            ember_limit_fours_dsp(y, view->along->out, view->y_step, limits);
        }
        y += view->y_pitch;
    }
}

SMALL void ember_lines_dsp_run(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv,
                               const ember_lines_ending_dsp_t *ending, int32_t first) {
    const view_t view = view_of(conv, s->down);
    const ptrdiff_t x_image =
        (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
    const ptrdiff_t y_image =
        (ptrdiff_t)conv->height.out * conv->width.out * conv->channels;
    channels_t channels;

    for (int32_t c = 0; c < FOUR; c++) {
        set_channel(conv, &view, first + c, channels.weights + c * WEIGHTS);
        channels.by[c] = ending->filter(&conv->scales, first + c);
    }
    clear_sides(s);
    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(s, conv, ending, &view, &channels, conv->x + first + n * x_image,
                  conv->y + first + n * y_image);
    }
}

// --- the ending ----------------------------------------------------------------------

SMALL static ember_filter_dsp_t filter(const ember_scales_s8_t *scales,
                                       int32_t channel) {
    return ember_filter_dsp(scales->bias == NULL ? 0 : scales->bias[channel],
                            scales->multipliers[channel], scales->shifts[channel]);
}

static void pairs(const ember_scales_s8_t *scales, const ember_lines_run_dsp_t *run) {
    (void)scales;
    ember_lines_dsp(run);
}

const ember_lines_ending_dsp_t ember_lines_ending_dsp = {filter, pairs, NULL};

// --- fitting -------------------------------------------------------------------------

static bool runs_along(const ember_conv_s8_t *conv, const ember_conv_s8_axis_t *axis) {
    const int32_t most = conv->rows == EMBER_ROWS_REAL ? 2 : 1;
    return axis->stride <= most && axis->out > 1;
}

SMALL bool ember_lines_dsp_fit(const ember_conv_s8_t *conv) {
    return ember_is_three_by_three_dsp(conv) &&
           (runs_along(conv, &conv->height) || runs_along(conv, &conv->width));
}

SMALL int32_t ember_lines_dsp_measure(ember_lines_dsp_t *s,
                                      const ember_conv_s8_t *conv) {
    const bool taller = conv->height.out > conv->width.out;

    s->down =
        runs_along(conv, &conv->height) && (taller || !runs_along(conv, &conv->width));
    const ember_conv_s8_axis_t *along = s->down ? &conv->height : &conv->width;
    const int32_t past = (along->in + along->padding) / 2;
    s->words_each = steps_of(along) + 1;
    s->past = past < s->words_each ? past : s->words_each;
    s->inside = (along->padding + 1) / 2;
    return s->words_each * TAPS * FOUR * (int32_t)sizeof(uint32_t);
}
