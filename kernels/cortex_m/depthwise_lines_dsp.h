// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 3 x 3 taps with the DSP instructions, a few rows at
// a time: their lines of four channels lie in scratch as int16, offset added and
// padding included, so that outputs at the border are as all others.
#ifndef EMBER_KERNELS_CORTEX_M_DEPTHWISE_LINES_DSP_H
#define EMBER_KERNELS_CORTEX_M_DEPTHWISE_LINES_DSP_H

#include "kernels/cortex_m/conv_s8.h"

typedef struct ember_lines_dsp {
    uint32_t *words; // (line, pair of pixels, channel) int16
    int32_t rows;    // of outputs at a time
    int32_t pairs;   // of pixels of a line
    int32_t inside;  // pixels of the image, behind the padding; maybe < 0
    bool down;       // lines are columns of the image
} ember_lines_dsp_t;

// Whether a convolution with one filter per channel, four channels or more, is for
// lines.
bool ember_lines_dsp_fit(const ember_conv_s8_t *conv);

// Bytes of scratch, which `s->words` shall be; sets the rest.
int32_t ember_lines_dsp_measure(ember_lines_dsp_t *s, const ember_conv_s8_t *conv);

// Makes all words 0, before the first channels: those of the padding stay so.
void ember_lines_dsp_clear(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv);

// Four channels, from `first` on.
void ember_lines_dsp_run(const ember_lines_dsp_t *s, const ember_conv_s8_t *conv,
                         int32_t first);

#endif // EMBER_KERNELS_CORTEX_M_DEPTHWISE_LINES_DSP_H
