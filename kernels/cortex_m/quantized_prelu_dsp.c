// SPDX-License-Identifier: Apache-2.0
// quantized_prelu with the DSP instructions, four elements or channels at a time.
// Contract: prelu_s8.h.
#include <arm_dsp_norms.h>

#include "kernels/cortex_m/prelu_s8.h"

enum { FOUR = 4, ROUND = 256 };

// Whole words, `step` bytes apart.
static void lines(const ember_prelu_s8_t *s, size_t at, uint32_t step, uint32_t count,
                  const int32_t *slopes) {
    const ember_prelu_lines_dsp_t task = {
        .x = s->x + at,
        .y = s->y + at,
        .step = (int32_t)step,
        .rounds = ((int32_t)count - 1) * ROUND + s->shift,
        .slopes = {slopes[0], slopes[1], slopes[2], slopes[3]},
        .zero_point = s->zero_point,
        .positive = s->scales[0],
        .start = s->start};
    ember_prelu_lines_dsp(&task);
}

static void planes(const ember_prelu_s8_t *s) {
    const uint32_t words = s->inner / FOUR;
    size_t at = 0;

    for (uint32_t i = 0; i < s->outer * s->channels; i++) {
        const int32_t slope = s->scales[1 + i % s->channels];
        const int32_t slopes[FOUR] = {slope, slope, slope, slope};
        if (words > 0) {
            lines(s, at, FOUR, words, slopes);
        }
        ember_prelu_plane_s8(s, at + (size_t)words * FOUR, s->inner % FOUR, slope);
        at += s->inner;
    }
}

// Channels last.
static void pixels(const ember_prelu_s8_t *s) {
    const uint32_t whole = s->channels & ~(uint32_t)(FOUR - 1);

    for (uint32_t c = 0; c < whole; c += FOUR) {
        lines(s, c, s->channels, s->outer, s->scales + 1 + c);
    }
    for (uint32_t c = whole; c < s->channels; c++) {
        for (uint32_t o = 0; o < s->outer; o++) {
            const size_t at = (size_t)o * s->channels + c;
            ember_prelu_plane_s8(s, at, 1, s->scales[1 + c]);
        }
    }
}

static int32_t run(void *state) {
    const ember_prelu_s8_t *s = state;

    if (s->inner == 1 && s->channels > 1) {
        pixels(s);
    } else {
        planes(s);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_prelu_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_prelu_dsp, ember_prelu_s8_t);
