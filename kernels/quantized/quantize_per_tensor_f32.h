// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor: float32 to int8 or uint8 in one memory layout.
#ifndef EMBER_KERNELS_QUANTIZED_QUANTIZE_PER_TENSOR_F32_H
#define EMBER_KERNELS_QUANTIZED_QUANTIZE_PER_TENSOR_F32_H

#include "kernels/engine/affine_f32.h"

typedef struct ember_quantize_f32 {
    ember_affine_f32_t affine;
    float low; // the range
    float high;
    int32_t nothing; // what NaN becomes
} ember_quantize_f32_t;

EMBER_MUST_USE ember_status_t ember_quantize_f32_prepare(ember_node_t *node,
                                                         void *state);
int32_t ember_quantize_f32_run(void *state);

// By variants, which take what ember_quantize_f32_is_plain() says.
int32_t ember_quantize_f32_dsp_run(void *state);
int32_t ember_quantize_f32_mve_run(void *state);

// A call of Cadence's dialect that a variant takes: NaN becomes the least number.
EMBER_MUST_USE ember_status_t ember_quantize_cadence_prepare(ember_node_t *node,
                                                             void *state);

// For variants: whether scale and zero point are constants of the program, for which
// denormals of x or of the scale are zeros, and the tensor is of int8 with all its
// range.
bool ember_quantize_f32_is_plain(const ember_quantize_f32_t *s);

// Whether y is disjoint from x, so that a block can be computed again.
bool ember_quantize_f32_apart(const ember_quantize_f32_t *s);

#endif // EMBER_KERNELS_QUANTIZED_QUANTIZE_PER_TENSOR_F32_H
