// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_dsp: one filter per channel, with the DSP instructions.
//
// Four channels at a time, the last four maybe a second time. 3 x 3 taps go line by
// line, each of which is in scratch before outputs may take its place, or pixel by
// pixel.
#include "kernels/engine/dsp/depthwise_windows_dsp.h"

INLINE void store(const block_t *block, sums_t sums, int8_t *y) {
    y[0] = (int8_t)ember_scaled_dsp(sums.a, block->by[0]);
    y[1] = (int8_t)ember_scaled_dsp(sums.b, block->by[1]);
    y[2] = (int8_t)ember_scaled_dsp(sums.c, block->by[2]);
    y[3] = (int8_t)ember_scaled_dsp(sums.d, block->by[3]);
    for (int32_t i = 0; block->limited && i < FOUR; i++) {
        y[i] = ember_limit_s8(y[i], block->scales->limits);
    }
}

FAST void run_windows(const state_t *s, int32_t from) {
    run_block(s, from, store);
}

static int32_t run(void *state) {
    const state_t *s = state;
    const int32_t last = s->conv.channels - FOUR;
    bool cleared = false;

    for (int32_t from = 0; from < s->conv.channels; from += FOUR) {
        const int32_t first = from < last ? from : last;
        if (s->by_pixel && ember_powers_fit_dsp(s->conv.scales.shifts + first, FOUR)) {
            ember_pixels_dsp_run(&s->pixels, &s->conv, &ember_pixels_ending_dsp, first,
                                 cleared);
            cleared = true;
        } else if (s->by_line) {
            ember_lines_dsp_run(&s->lines, &s->conv, &ember_lines_ending_dsp, first);
        } else {
            run_windows(s, first);
            cleared = false;
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const ember_status_t status = ember_conv_s8_depthwise_args(&s->conv, node);

    return status != EMBER_OK ? status : ember_depthwise_s8_dsp_prepare(s, node);
}

EMBER_KERNEL(quantized_depthwise_conv2d_dsp, state_t);
