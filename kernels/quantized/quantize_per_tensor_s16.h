// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor: float32 to int16 with a zero point of 0, in one memory layout.
#ifndef EMBER_KERNELS_QUANTIZED_QUANTIZE_PER_TENSOR_S16_H
#define EMBER_KERNELS_QUANTIZED_QUANTIZE_PER_TENSOR_S16_H

#include "kernels/engine/affine_f32.h"

typedef struct ember_quantize_s16 {
    ember_affine_f32_t affine;
    int16_t low; // the range
    int16_t high;
} ember_quantize_s16_t;

EMBER_MUST_USE ember_status_t ember_quantize_s16_prepare(ember_node_t *node,
                                                         void *state);
int32_t ember_quantize_s16_run(void *state);

#endif // EMBER_KERNELS_QUANTIZED_QUANTIZE_PER_TENSOR_S16_H
