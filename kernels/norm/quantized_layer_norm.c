// SPDX-License-Identifier: Apache-2.0
// ember::quantized_layer_norm.out, portable. Contract: layer_norm_s8.h.
#include "kernels/norm/layer_norm_s8.h"

static void scale(const ember_layer_row_s8_t *row) {
    for (uint32_t i = 0; i < row->count; i++) {
        const int32_t n = ember_line_s32(row->x[i], row->multiplier, row->start);
        const uint32_t upper = (uint32_t)ember_upper_s32(n, row->g[i]);
        const int32_t sum = (int32_t)(upper + (uint32_t)row->b[i]);
        row->y[i] = ember_limited_s8(sum >> EMBER_NORM_S8_SHIFT);
    }
}

EMBER_LAYER_NORM_S8_KERNEL(quantized_layer_norm, ember_norm_sums_s8, scale);
