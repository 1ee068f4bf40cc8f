// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 3 x 3 taps with the DSP instructions, line by line: the
// longer axis of the image is in scratch as int16 for each of four channels, offset
// added and padding included, so that one instruction has two taps of a channel.
#ifndef EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_LINES_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_LINES_DSP_H

#include <arm_dsp_lines.h>
#include <stddef.h>

#include "kernels/engine/int8/conv_s8.h"

typedef struct ember_lines_dsp {
    uint32_t *words;    // (channel, words_each, line) pairs of int16
    int32_t words_each; // of a line
    int32_t inside;     // the first word that does not begin before the image,
    int32_t past;       // and the first one that does not end in it
    bool down;          // lines are columns of the image
} ember_lines_dsp_t;

static inline bool ember_is_three_by_three_dsp(const ember_conv_s8_t *conv) {
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    return height->kernel == 3 && width->kernel == 3 && height->dilation == 1 &&
           width->dilation == 1;
}

// Limits `count` outputs of four channels, `step` bytes apart.
void ember_limit_fours_dsp(int8_t *y, int32_t count, ptrdiff_t step,
                           ember_limits_s8_t limits);

// Whether a convolution with one filter per channel, four channels or more, is for
// lines.
bool ember_lines_dsp_fit(const ember_conv_s8_t *conv);

// Bytes of scratch, which `s->words` shall be; sets the rest.
int32_t ember_lines_dsp_measure(ember_lines_dsp_t *s, const ember_conv_s8_t *conv);

// How sums become outputs.
typedef struct ember_lines_ending_dsp {
    // What scales the sums of a channel.
    ember_filter_dsp_t (*filter)(const ember_scales_s8_t *scales, int32_t channel);
    // Makes outputs of a line: pairs of neighbours, or every second one, which only
    // scales of float32 (EMBER_ROWS_REAL) need.
    void (*pairs)(const ember_scales_s8_t *scales, const ember_lines_run_dsp_t *run);
    void (*every_second)(const ember_scales_s8_t *scales,
                         const ember_lines_run_dsp_t *run);
} ember_lines_ending_dsp_t;

extern const ember_lines_ending_dsp_t ember_lines_ending_dsp; // that of cortex_m

// Four channels, from `first` on.
void ember_lines_dsp_run(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv,
                         const ember_lines_ending_dsp_t *ending, int32_t first);

#endif // EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_LINES_DSP_H
