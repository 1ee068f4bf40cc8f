// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of one filter per channel, with the DSP instructions.
#ifndef EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_S8_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_S8_DSP_H

#include "kernels/engine/dsp/depthwise_lines_dsp.h"
#include "kernels/engine/dsp/depthwise_pixels_dsp.h"

typedef struct ember_depthwise_s8_dsp {
    ember_conv_s8_t conv;
    uint32_t *weights; // (taps, 2): channels 0 and 2, 1 and 3
    union {
        ember_lines_dsp_t lines;   // by_line
        ember_pixels_dsp_t pixels; // by_pixel
    };
    int32_t taps;
    bool by_line, by_pixel;
} ember_depthwise_s8_dsp_t;

// Takes `s->conv`, which has been read; UNSUPPORTED if it does not suit these kernels.
// Scales of float32 work by pixels and lines where the core has a float unit.
EMBER_MUST_USE ember_status_t
ember_depthwise_s8_dsp_prepare(ember_depthwise_s8_dsp_t *s, ember_node_t *node);

#endif // EMBER_KERNELS_ENGINE_DSP_DEPTHWISE_S8_DSP_H
