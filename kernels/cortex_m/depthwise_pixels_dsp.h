// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 3 x 3 taps with the DSP instructions, for small images and
// stride 2: pixels of four channels lie in scratch as int16, offset added and padding
// included, as many rows as have room, so that no output is a special case.
#ifndef EMBER_KERNELS_CORTEX_M_DEPTHWISE_PIXELS_DSP_H
#define EMBER_KERNELS_CORTEX_M_DEPTHWISE_PIXELS_DSP_H

#include "kernels/cortex_m/conv_s8.h"

typedef struct ember_pixels_dsp {
    uint32_t *words; // (row, pixel, channels 0 and 2 or 1 and 3)
    int32_t across;  // pixels of a row
    int32_t rows;    // of outputs, for which words have room
} ember_pixels_dsp_t;

// Whether a convolution with one filter per channel, four channels or more, is for
// pixels.
bool ember_pixels_dsp_fit(const ember_conv_s8_t *conv);

// Bytes of scratch, which `s->words` shall be; sets the rest.
int32_t ember_pixels_dsp_measure(ember_pixels_dsp_t *s, const ember_conv_s8_t *conv);

// Four channels, from `first` on. `cleared`: since the last run of pixels of this image
// nothing else was written to scratch, so that what lies beside it is 0 still.
void ember_pixels_dsp_run(const ember_pixels_dsp_t *s, const ember_conv_s8_t *conv,
                          int32_t first, bool cleared);

#endif // EMBER_KERNELS_CORTEX_M_DEPTHWISE_PIXELS_DSP_H
