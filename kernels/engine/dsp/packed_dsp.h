// SPDX-License-Identifier: Apache-2.0
// Convolutions with packed weights (packed_s8.h) by the DSP instructions: the elements
// under the taps of two outputs lie side by side in scratch as int16, their offset
// added, and are multiplied with four filters after the other.
#ifndef EMBER_KERNELS_ENGINE_DSP_PACKED_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_PACKED_DSP_H

#include <arm_dsp_quads.h>

#include "kernels/engine/int8/packed_s8.h"

enum { EMBER_PACKED_COLUMNS = 2 }; // at a time

typedef struct ember_packed_dsp {
    ember_conv_s8_t conv;
    uint32_t *words;      // (fours, even or odd, column) pairs of int16
    ember_quad_dsp_t *by; // (quads,)
    int8_t *copies;       // (column, rows of taps, fours): where taps are beside images
    int32_t fours;        // of a row of taps
} ember_packed_dsp_t;

// Takes `s->conv` and `s->fours`, which are read already; UNSUPPORTED when they are not
// for these kernels.
EMBER_MUST_USE ember_status_t ember_packed_dsp_prepare(ember_packed_dsp_t *s,
                                                       ember_node_t *node);

// Sets what the sums of all filters begin with, in `s->by`.
void ember_packed_dsp_begin(const ember_packed_dsp_t *s);

// Whether pixels of the image are the columns, one after the other.
static inline bool ember_packed_dsp_is_flat(const ember_conv_s8_t *conv) {
    return ember_conv_s8_is_direct(conv) && conv->depth % EMBER_PACKED_FOUR == 0 &&
           conv->height.stride == 1 && conv->width.stride == 1;
}

#endif // EMBER_KERNELS_ENGINE_DSP_PACKED_DSP_H
