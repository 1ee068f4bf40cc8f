// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions line by line. Contract: depthwise_lines_dsp.h.
#include "kernels/cortex_m/depthwise_lines_dsp.h"

#include <arm_dsp_lines.h>
#include <stddef.h>

#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = 4, TAPS = 3, PAIR = 2, WEIGHTS = TAPS * PAIR * FOUR };
// Words of scratch, where three lines are fewer, and bytes of the images for each.
enum { LEAST = 1 << 7, MOST = 1 << 9, SHARE = 1 << 6 };

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
    uint32_t weights[WEIGHTS]; // (line, taps 0 and 1 or 1 and 2, channel)
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

// --- lines ---------------------------------------------------------------------------

// Makes `pairs` of pixels 0.
FAST void clear(uint32_t *to, int32_t pairs) {
    for (; pairs > 0; pairs--) {
        to[0] = to[1] = to[2] = to[3] = 0;
        to += FOUR;
    }
}

FAST void move(uint32_t *to, const uint32_t *from, int32_t pairs) {
    for (; pairs > 0; pairs--) {
        const uint32_t a = from[0], b = from[1], c = from[2], d = from[3];
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
        to += FOUR;
        from += FOUR;
    }
}

// One piece of code for all callers.
static __attribute__((noinline)) void widen(const ember_lines_widen_dsp_t *lines) {
    ember_lines_widen_dsp(lines);
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

// The weights of the four channels from `at` on.
SMALL static void set_channels(const ember_conv_s8_t *conv, const view_t *view,
                               int32_t at, channels_t *channels) {
    const ember_scales_s8_t *scales = &conv->scales;
    ember_lines_widen_dsp_t taps = {
        .x = conv->w + at,
        .to = channels->weights,
        .lines = TAPS,
        .pitch = view->line_of_taps,
        .to_pitch = PAIR * FOUR * (int32_t)sizeof(uint32_t),
        .step = view->tap,
        .pairs = 1,
    };

    widen(&taps);
    taps.x += view->tap;
    taps.to += FOUR;
    widen(&taps);
    for (int32_t c = 0; c < FOUR; c++) {
        channels->by[c] =
            ember_filter_dsp(scales->bias == NULL ? 0 : scales->bias[at + c],
                             scales->multipliers[at + c], scales->shifts[at + c]);
    }
}

SMALL static ember_lines_run_dsp_t run_of(const ember_lines_dsp_t *s,
                                          const ember_conv_s8_t *conv,
                                          const view_t *view,
                                          const channels_t *channels) {
    const int32_t out = view->along->out;
    const int32_t pitch = s->pairs * FOUR * (int32_t)sizeof(*s->words);
    const int32_t step = out > 1 ? view->y_step : 0;

    return (ember_lines_run_dsp_t){
        .x = s->words,
        .pitch = pitch,
        .weights = channels->weights,
        .by = channels->by,
        .step = step,
        .span = out / PAIR * PAIR * step,
        .odd = out > 1 && out % PAIR != 0,
        .offset = 2 * conv->scales.zero_point + 1,
        .down = view->across->stride * pitch,
        .y_down = view->y_pitch,
        .apart = view->along->stride > 1,
    };
}

// The lines of the image whose words are in scratch.
typedef struct {
    int32_t first;
    int32_t past;
} held_t;

// What is the same of all lines that are widened.
static ember_lines_widen_dsp_t
widen_of(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv, const view_t *view) {
    const int32_t padding = view->along->padding;
    const int32_t lead = padding % PAIR, left = s->inside - lead;

    return (ember_lines_widen_dsp_t){
        .pitch = view->pitch,
        .to_pitch = s->pairs * FOUR * (int32_t)sizeof(uint32_t),
        .offset = ember_both_dsp(conv->x_offset),
        .step = view->step,
        .lead = lead,
        .pairs = left / PAIR,
        .tail = left % PAIR,
    };
}

// Makes lines `first` to `past` - 1 words. Those that are already are moved.
SMALL static void make_lines(const ember_lines_dsp_t *s, const view_t *view,
                             ember_lines_widen_dsp_t *inside, const int8_t *x,
                             held_t held, held_t lines) {
    const int32_t pitch = s->pairs * FOUR, in = view->across->in;
    uint32_t *to = s->words;
    int32_t line = lines.first;

    if (held.past > line) {
        move(to, to + (line - held.first) * pitch, (held.past - line) * s->pairs);
        to += (held.past - line) * pitch;
        line = held.past;
    }
    const int32_t past = lines.past < in ? lines.past : in;
    while (line < lines.past) {
        const bool beside = line < 0 || line >= in;
        const int32_t count = beside ? 1 : past - line;
        if (beside) {
            clear(to, s->pairs);
        } else if (s->inside > 0) {
            inside->x = x + line * view->pitch;
            inside->to = to + view->along->padding / PAIR * FOUR;
            inside->lines = count;
            widen(inside);
        }
        to += count * pitch;
        line += count;
    }
}

static void run_image(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv,
                      const view_t *view, const channels_t *channels, const int8_t *x,
                      int8_t *y) {
    const ember_limits_s8_t limits = conv->scales.limits;
    const ember_conv_s8_axis_t *across = view->across;
    ember_lines_run_dsp_t run = run_of(s, conv, view, channels);
    ember_lines_widen_dsp_t inside = widen_of(s, conv, view);
    held_t held = {0, INT32_MIN};

    for (int32_t row = 0; row < across->out; row += run.rows) {
        const int32_t left = across->out - row;
        run.rows = s->rows < left ? s->rows : left;
        const int32_t first = row * across->stride - across->padding;
        const held_t lines = {first, first + (run.rows - 1) * across->stride + TAPS};
        make_lines(s, view, &inside, x, held, lines);
        held = lines;
        run.y = y;
        ember_lines_dsp(&run);
        for (int32_t i = run.rows; i > 0; i--) {
            if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
                limit(y, view->along->out, view->y_step, limits);
            }
            y += view->y_pitch;
        }
    }
}

SMALL void ember_lines_dsp_run(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv,
                               int32_t first) {
    const view_t view = view_of(conv, s->down);
    const ptrdiff_t x_image =
        (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
    const ptrdiff_t y_image =
        (ptrdiff_t)conv->height.out * conv->width.out * conv->channels;
    channels_t channels;

    set_channels(conv, &view, first, &channels);
    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(s, conv, &view, &channels, conv->x + first + n * x_image,
                  conv->y + first + n * y_image);
    }
}

// --- fitting -------------------------------------------------------------------------

static bool is_three(const ember_conv_s8_axis_t *axis) {
    return axis->kernel == TAPS && axis->dilation == 1;
}

static bool runs_along(const ember_conv_s8_axis_t *axis) {
    return axis->stride <= 2 && axis->out > 0;
}

SMALL bool ember_lines_dsp_fit(const ember_conv_s8_t *conv) {
    return is_three(&conv->height) && is_three(&conv->width) &&
           (runs_along(&conv->height) || runs_along(&conv->width));
}

// As many rows at a time as there is room for their lines: little beside the images.
static void set_rows(ember_lines_dsp_t *s, const ember_conv_s8_t *conv) {
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const ember_conv_s8_axis_t *across = s->down ? width : height;
    const int64_t pixels =
        (int64_t)height->in * width->in + (int64_t)height->out * width->out;
    const int64_t share = pixels * conv->channels / SHARE;
    const int32_t most = share < MOST ? (int32_t)share : MOST;
    const int32_t room = most > LEAST ? most : LEAST;
    const int32_t fit = room / (s->pairs * FOUR) - TAPS;
    const int32_t rows = (fit > 0 ? fit / across->stride : 0) + 1;

    s->rows = rows < across->out ? rows : across->out;
}

// Lines that the rows take.
static int32_t lines_of(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv) {
    const int32_t stride = s->down ? conv->width.stride : conv->height.stride;
    return (s->rows - 1) * stride + TAPS;
}

SMALL int32_t ember_lines_dsp_measure(ember_lines_dsp_t *s,
                                      const ember_conv_s8_t *conv) {
    const bool taller = conv->height.out > conv->width.out;

    s->down = runs_along(&conv->height) && (taller || !runs_along(&conv->width));
    const ember_conv_s8_axis_t *along = s->down ? &conv->height : &conv->width;
    s->pairs = (along->out + 1) / PAIR * along->stride + 1;
    const int32_t room = s->pairs * PAIR - along->padding;
    s->inside = along->in < room ? along->in : room;
    set_rows(s, conv);
    return lines_of(s, conv) * s->pairs * FOUR * (int32_t)sizeof(uint32_t);
}

SMALL void ember_lines_dsp_clear(const ember_lines_dsp_t *s,
                                 const ember_conv_s8_t *conv) {
    clear(s->words, lines_of(s, conv) * s->pairs);
}
