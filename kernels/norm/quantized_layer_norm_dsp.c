// SPDX-License-Identifier: Apache-2.0
// quantized_layer_norm with the DSP instructions. Contract: layer_norm_s8.h.
#include <arm_dsp_norms.h>

#include "kernels/norm/layer_norm_s8.h"

enum { EIGHT = 8 };

static void scale(const ember_layer_row_s8_t *row) {
    const uint32_t whole = row->count & ~(uint32_t)(EIGHT - 1);

    if (whole > 0) {
        const ember_norm_row_dsp_t task = {row->x,    row->g,         row->b,
                                           row->y,    row->y + whole, row->multiplier,
                                           row->start};
        ember_norm_row_dsp(&task);
    }
    if (whole < row->count) {
        ember_layer_row_s8(row, whole);
    }
}

EMBER_LAYER_NORM_S8_KERNEL(quantized_layer_norm_dsp, ember_norm_sums_s8_dsp, scale);
