// SPDX-License-Identifier: Apache-2.0
// ember::quantized_layer_norm.out, portable. Contract: layer_norm_s8.h.
#include "kernels/norm/layer_norm_s8.h"

static void scale(const ember_layer_row_s8_t *row) {
    ember_layer_row_s8(row, 0);
}

EMBER_LAYER_NORM_S8_KERNEL(quantized_layer_norm, ember_norm_sums_s8, scale);
