// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 3 x 3 taps with the DSP instructions, for small images and
// stride 2: pixels of four channels are in scratch as int16, offset added and padding
// included, as many rows as fit, so that no output is a special case.
#ifndef EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_PIXELS_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_PIXELS_DSP_H

#include <arm_dsp_pixels.h>

#include "kernels/engine/int8/conv_s8.h"

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

// How sums become outputs.
typedef struct ember_pixels_ending_dsp {
    // Sets what four channels begin with and are scaled by; returns the offset of rows.
    int32_t (*channels)(const ember_scales_s8_t *scales, int32_t first,
                        ember_channels_dsp_t *channels);
    void (*rows)(const ember_scales_s8_t *scales, const ember_pixels_run_dsp_t *run);
} ember_pixels_ending_dsp_t;

extern const ember_pixels_ending_dsp_t ember_pixels_ending_dsp; // that of cortex_m

// Four channels, from `first` on. `cleared`: since the last run of pixels of this image
// nothing else was written to scratch, so that what lies beside it is 0 still.
void ember_pixels_dsp_run(const ember_pixels_dsp_t *s, const ember_conv_s8_t *conv,
                          const ember_pixels_ending_dsp_t *ending, int32_t first,
                          bool cleared);

#endif // EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_PIXELS_DSP_H
