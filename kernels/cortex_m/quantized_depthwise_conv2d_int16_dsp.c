// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_int16_dsp: one filter per channel, with the DSP
// instructions, four channels at a time, the last four maybe a second time.
#include "kernels/cortex_m/depthwise_s16.h"
#include "kernels/cortex_m/scale_s16_dsp.h"

enum { FOUR = 4, THREE = 3, MOST = 1 << 15 }; // channels

typedef struct {
    ember_conv_s16_t conv;
    ember_filter_dsp_t *by; // (channels,): scratch
} state_t;

typedef struct {
    int32_t a, b, c, d;
} sums_t;

INLINE uint32_t word_at(const void *at) {
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

INLINE void add_tap(sums_t *sums, const int16_t *x, const int8_t *w) {
    const uint32_t first = word_at(x), second = word_at(x + 2), weights = word_at(w);
    const uint32_t even = ember_sxtb16(weights), odd = ember_sxtb16_odd(weights);

    sums->a = ember_smlabb(first, even, sums->a);
    sums->b = ember_smlatb(first, odd, sums->b);
    sums->c = ember_smlabt(second, even, sums->c);
    sums->d = ember_smlatt(second, odd, sums->d);
}

// Four channels from `from` on.
INLINE sums_t sums_of(const ember_pixel_s16_t *pixel, const ember_filter_dsp_t *by,
                      int32_t from) {
    const int16_t *x_row = pixel->x + from;
    const int8_t *w_row = pixel->w + from;
    const int32_t x_step = pixel->x_step, w_step = pixel->w_step;
    sums_t sums = {by[0].bias, by[1].bias, by[2].bias, by[3].bias};

    for (int32_t rows = pixel->rows; rows > 0; rows--) {
        const int16_t *x = x_row;
        const int8_t *w = w_row;
        int32_t left = pixel->columns;
        if (left == THREE) {
            add_tap(&sums, x, w);
            add_tap(&sums, x + x_step, w + w_step);
            add_tap(&sums, x + 2 * x_step, w + 2 * w_step);
            left = 0;
        }
        for (; left > 0; left--) {
            add_tap(&sums, x, w);
            x += x_step;
            w += w_step;
        }
        x_row += pixel->x_row;
        w_row += pixel->w_row;
    }
    return sums;
}

FAST void run_channels(const state_t *s, const ember_pixel_s16_t *pixel) {
    const int32_t last = s->conv.conv.channels - FOUR;

    for (int32_t from = 0; from < last + FOUR; from += FOUR) {
        from = from < last ? from : last;
        const ember_filter_dsp_t *by = s->by + from;
        const sums_t sums = sums_of(pixel, by, from);
        int16_t *y = pixel->y + from;
        y[0] = (int16_t)ember_scaled_s16_dsp(sums.a, by[0]);
        y[1] = (int16_t)ember_scaled_s16_dsp(sums.b, by[1]);
        y[2] = (int16_t)ember_scaled_s16_dsp(sums.c, by[2]);
        y[3] = (int16_t)ember_scaled_s16_dsp(sums.d, by[3]);
    }
}

static void one(const void *state, const ember_pixel_s16_t *pixel) {
    const state_t *s = state;
    const ember_limits_s16_t limits = s->conv.limits;

    run_channels(s, pixel);
    for (int32_t c = 0; ember_is_limited_s16(limits) && c < s->conv.conv.channels;
         c++) {
        pixel->y[c] = ember_limit_s16(pixel->y[c], limits);
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ember_scales_s8_t *scales = &s->conv.conv.scales;

    for (int32_t f = 0; f < s->conv.conv.filters; f++) {
        s->by[f] = ember_filter_dsp(scales->bias == NULL ? 0 : scales->bias[f],
                                    scales->multipliers[f], scales->shifts[f]);
    }
    ember_depthwise_s16_walk(&s->conv, one, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const ember_conv_s8_t *conv = &s->conv.conv;
    const ember_status_t status = ember_conv_s16_depthwise_args(&s->conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (conv->filters != conv->channels || conv->channels < FOUR ||
        conv->channels > MOST || conv->rows != EMBER_ROWS_NORMAL) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: not for DSP");
    }
    s->by = ember_node_scratch(node, (size_t)conv->filters * sizeof(*s->by));
    return ember_node_status(node);
}

EMBER_KERNEL(quantized_depthwise_conv2d_int16_dsp, state_t);
