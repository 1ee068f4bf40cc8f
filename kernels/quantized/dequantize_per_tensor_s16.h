// SPDX-License-Identifier: Apache-2.0
// dequantize_per_tensor: int16 with a zero point of 0 to float32 in one memory layout.
// The state is an ember_affine_f32_t.
#ifndef EMBER_KERNELS_QUANTIZED_DEQUANTIZE_PER_TENSOR_S16_H
#define EMBER_KERNELS_QUANTIZED_DEQUANTIZE_PER_TENSOR_S16_H

#include "kernels/engine/affine_f32.h"

EMBER_MUST_USE ember_status_t ember_dequantize_s16_prepare(ember_node_t *node,
                                                           void *state);

#endif // EMBER_KERNELS_QUANTIZED_DEQUANTIZE_PER_TENSOR_S16_H
