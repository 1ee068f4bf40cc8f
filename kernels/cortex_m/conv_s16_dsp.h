// SPDX-License-Identifier: Apache-2.0
// Layers of int16 with the DSP instructions: three columns at a time become words, the
// even and the odd ones of four elements, which are multiplied as those of int8 are.
#ifndef EMBER_KERNELS_CORTEX_M_CONV_S16_DSP_H
#define EMBER_KERNELS_CORTEX_M_CONV_S16_DSP_H

#include "kernels/cortex_m/columns_s16.h"

typedef struct ember_conv_s16_dsp {
    ember_conv_s16_t conv;
    int16_t *copies; // (column, fours): columns; NULL: they are taken from the image
    uint32_t *words; // (fours, even or odd, column) pairs of int16
    int32_t *sums;   // (column, filters), of two filters at least
    int32_t *bias;   // (filters,), of two at least; NULL: those of the scales
    int8_t *last;    // (2, fours): the last filters; NULL: as they are
    int32_t inner;   // elements of a column
    int32_t fours;   // of a column
} ember_conv_s16_dsp_t;

// Takes `s->conv`, which has been read; UNSUPPORTED unless all channels are in one
// group and multipliers have 31 bits, or are 0, and shifts go to the right.
EMBER_MUST_USE ember_status_t ember_conv_s16_dsp_prepare(ember_conv_s16_dsp_t *s,
                                                         ember_node_t *node);

void ember_conv_s16_dsp_run(const ember_conv_s16_dsp_t *s);

#endif // EMBER_KERNELS_CORTEX_M_CONV_S16_DSP_H
