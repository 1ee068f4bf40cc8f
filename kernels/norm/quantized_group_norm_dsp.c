// SPDX-License-Identifier: Apache-2.0
// quantized_group_norm with the DSP instructions, four channels or pixels at a time.
// Contract: group_norm_s8.h.
#include <arm_dsp_norms.h>

#include "kernels/norm/group_norm_s8.h"

enum { FOUR = 4, MOST = 255, ROUND = 256 }; // MOST: pixels whose sums are int16

static void plane(int8_t *y, const int8_t *x, uint32_t count, ember_channel_s8_t by,
                  uint32_t shift) {
    const int32_t words = (int32_t)(count / FOUR);

    if (words > 0) {
        const ember_norm_lines_dsp_t task = {x,
                                             y,
                                             FOUR,
                                             (words - 1) * ROUND + (int32_t)shift,
                                             {by.slope, by.start, by.slope, by.start,
                                              by.slope, by.start, by.slope, by.start}};
        ember_norm_lines_dsp(&task);
    }
    for (uint32_t i = FOUR * (uint32_t)words; i < count; i++) {
        y[i] = ember_line_s8(x[i], by, shift);
    }
}

static void channels(const ember_group_norm_s8_t *s, const int8_t *x) {
    const uint32_t whole = s->channels & ~(uint32_t)(FOUR - 1);

    for (uint32_t c = 0; c < whole; c += FOUR) {
        ember_channel_s8_t *to = s->working + c;
        int32_t sums[FOUR] = {0};
        uint32_t squares[FOUR] = {0};
        for (uint32_t p = 0; p < s->pixels; p += MOST) {
            const uint32_t left = s->pixels - p;
            ember_norm_channels_dsp(x + (size_t)p * s->channels + c,
                                    (int32_t)s->channels, left < MOST ? left : MOST,
                                    sums, squares);
        }
        for (uint32_t i = 0; i < FOUR; i++) {
            to[i] = (ember_channel_s8_t){.sum = sums[i], .squares = squares[i]};
        }
    }
    ember_group_channels_s8(s, x, whole);
}

static void pixels(const ember_group_norm_s8_t *s, int8_t *y, const int8_t *x) {
    const uint32_t whole = s->channels & ~(uint32_t)(FOUR - 1);
    const int32_t rounds = ((int32_t)s->pixels - 1) * ROUND + s->shift;

    for (uint32_t c = 0; c < whole; c += FOUR) {
        const ember_channel_s8_t *by = s->working + c;
        const ember_norm_lines_dsp_t task = {x + c,
                                             y + c,
                                             (int32_t)s->channels,
                                             rounds,
                                             {by[0].slope, by[0].start, by[1].slope,
                                              by[1].start, by[2].slope, by[2].start,
                                              by[3].slope, by[3].start}};
        ember_norm_lines_dsp(&task);
    }
    ember_group_pixels_s8(s, y, x, whole);
}

static const ember_group_norm_core_t core = {ember_norm_sums_s8_dsp, plane, channels,
                                             pixels};
EMBER_GROUP_NORM_S8_KERNEL(quantized_group_norm_dsp, core);
