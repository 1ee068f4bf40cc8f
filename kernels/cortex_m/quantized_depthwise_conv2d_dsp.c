// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_dsp: one filter per channel, with the DSP instructions.
//
// Four channels at a time, the last four maybe a second time; their weights are widened
// to int16 in scratch first. Taps beside the image are left out. 3 x 3 taps go line by
// line, each of which is in scratch before outputs may take its place.
#include <stddef.h>

#include "kernels/cortex_m/depthwise_lines_dsp.h"
#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = 4, MOST_TAPS = 1 << 12 };

typedef struct {
    ember_conv_s8_t conv;
    uint32_t *weights; // (taps, 2): channels 0 and 2, 1 and 3
    ember_lines_dsp_t lines;
    int32_t taps;
    bool by_line;
} state_t;

// Sums of four channels.
typedef struct {
    int32_t a, b, c, d;
} sums_t;

typedef struct {
    sums_t first; // what outputs start from
    ember_scale_dsp_t by[FOUR];
    ember_limits_s8_t limits;
    bool limited; // by more than int8
} block_t;

INLINE void add_tap(sums_t *sums, uint32_t offset, const int8_t *x, uint32_t even,
                    uint32_t odd) {
    const uint32_t word = ember_word_dsp(x);
    const uint32_t low = ember_sxtab16(offset, word);
    const uint32_t high = ember_sxtab16_odd(offset, word);
    sums->a = ember_smlabb(low, even, sums->a);
    sums->c = ember_smlatt(low, even, sums->c);
    sums->b = ember_smlabb(high, odd, sums->b);
    sums->d = ember_smlatt(high, odd, sums->d);
}

INLINE void store(const block_t *block, sums_t sums, int8_t *y) {
    y[0] = (int8_t)ember_scaled_dsp(sums.a, block->by[0]);
    y[1] = (int8_t)ember_scaled_dsp(sums.b, block->by[1]);
    y[2] = (int8_t)ember_scaled_dsp(sums.c, block->by[2]);
    y[3] = (int8_t)ember_scaled_dsp(sums.d, block->by[3]);
    for (int32_t i = 0; block->limited && i < FOUR; i++) {
        y[i] = ember_limit_s8(y[i], block->limits);
    }
}

// One output with the taps that lie inside the image; `x` is under tap (0, 0).
FAST void run_one(const state_t *s, const block_t *block, const int8_t *x,
                  ember_taps_s8_t down, ember_taps_s8_t across, int8_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const uint32_t offset = ember_both_dsp(conv->x_offset);
    const int32_t step = conv->channels * conv->width.dilation;
    const ptrdiff_t pitch =
        (ptrdiff_t)conv->channels * conv->width.in * conv->height.dilation;
    sums_t sums = block->first;

    for (int32_t ky = down.first; ky < down.past; ky++) {
        const int8_t *at = x + ky * pitch + across.first * step;
        const uint32_t *w = s->weights + 2 * (ky * conv->width.kernel + across.first);
        for (int32_t left = across.past - across.first; left > 0; left--) {
            add_tap(&sums, offset, at, w[0], w[1]);
            at += step;
            w += 2;
        }
    }
    store(block, sums, y);
}

// One row of outputs; `x` is under tap (0, 0) of output 0, maybe beside the image.
static void run_row(const state_t *s, const block_t *block, const int8_t *x,
                    ember_taps_s8_t down, int8_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *width = &conv->width;
    const int32_t next = conv->channels * width->stride;

    for (int32_t ox = 0; ox < width->out; ox++) {
        run_one(s, block, x + ox * next, down, ember_taps_s8(width, ox),
                y + ox * conv->channels);
    }
}

static void set_block(const state_t *s, block_t *block, int32_t from) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    int32_t first[FOUR] = {0, 0, 0, 0};

    for (int32_t tap = 0; tap < s->taps; tap++) {
        const int8_t *w = s->conv.w + (ptrdiff_t)tap * s->conv.filters + from;
        s->weights[2 * tap] = ember_sxtb16(ember_word_dsp(w));
        s->weights[2 * tap + 1] = ember_sxtb16_odd(ember_word_dsp(w));
    }
    for (int32_t i = 0; i < FOUR; i++) {
        first[i] = scales->bias == NULL ? 0 : scales->bias[from + i];
        block->by[i] = ember_scale_dsp(scales->multipliers[from + i],
                                       scales->shifts[from + i], scales->zero_point);
    }
    block->first = (sums_t){first[0], first[1], first[2], first[3]};
    block->limits = scales->limits;
    block->limited = scales->limits.low > INT8_MIN || scales->limits.high < INT8_MAX;
}

SMALL static void run_block(const state_t *s, int32_t from) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height;
    const ptrdiff_t pitch = (ptrdiff_t)conv->width.in * conv->channels;
    const int8_t *x = conv->x + from;
    int8_t *y = conv->y + from;
    block_t block;

    set_block(s, &block, from);
    for (int32_t n = 0; n < conv->batches; n++) {
        for (int32_t oy = 0; oy < height->out; oy++) {
            const int32_t top = oy * height->stride - height->padding;
            run_row(s, &block, x + top * pitch - conv->width.padding * conv->channels,
                    ember_taps_s8(height, oy), y);
            y += (ptrdiff_t)conv->width.out * conv->channels;
        }
        x += height->in * pitch;
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const int32_t last = s->conv.channels - FOUR;

    for (int32_t from = 0; from < s->conv.channels; from += FOUR) {
        const int32_t first = from < last ? from : last;
        if (s->by_line) {
            ember_lines_dsp_run(&s->lines, &s->conv, first);
        } else {
            run_block(s, first);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_conv_s8_t *conv = &s->conv;
    const ember_status_t status = ember_conv_s8_depthwise_args(conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    const int64_t taps = (int64_t)conv->height.kernel * conv->width.kernel;
    if (conv->filters != conv->channels || conv->channels < FOUR || taps > MOST_TAPS ||
        !ember_scales_fit_dsp(conv, taps)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with DSP");
    }
    s->taps = (int32_t)taps;
    s->by_line = ember_lines_dsp_fit(conv);
    if (conv->over && (!s->by_line || conv->channels % FOUR != 0)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: an output lies over its input");
    }
    const int32_t size = s->by_line ? ember_lines_dsp_measure(&s->lines, conv)
                                    : s->taps * 2 * (int32_t)sizeof(uint32_t);
    s->weights = ember_node_scratch(node, (size_t)size);
    s->lines.words = s->weights;
    return ember_node_status(node);
}

EMBER_KERNEL(quantized_depthwise_conv2d_dsp, state_t);
