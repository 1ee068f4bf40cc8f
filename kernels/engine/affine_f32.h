// SPDX-License-Identifier: Apache-2.0
// Affine quantisation of float32 tensors to and from int8 and uint8, with one scale, in
// one memory layout: loops that compilers vectorise, with the bits of affine.h.
#ifndef EMBER_KERNELS_ENGINE_AFFINE_F32_H
#define EMBER_KERNELS_ENGINE_AFFINE_F32_H

#include "kernels/engine/affine.h"

typedef struct ember_affine_f32 {
    const void *x;     // (count,)
    void *y;           // (count,)
    uint32_t count;    // elements
    const void *scale; // NULL: a number, included in `factor`
    const void *zero;  // NULL: a number, `zero_point`
    float factor;      // the scale; when quantising its inverse
    float zero_point;
    uint8_t scale_dtype;
    uint8_t zero_dtype;
    uint8_t integers; // dtype of the quantised side
    bool inverse;     // factor is 1 / scale
} ember_affine_f32_t;

// Reads a call of quantize_per_tensor (`quantize`) or dequantize_per_tensor.
// UNSUPPORTED for anything else.
EMBER_MUST_USE ember_status_t ember_affine_f32_prepare(ember_affine_f32_t *affine,
                                                       ember_node_t *node,
                                                       bool quantize);

// The same of int16 with a zero point of 0 and a scale, both numbers of the program,
// for which denormals of x or of the scale are zeros.
EMBER_MUST_USE ember_status_t ember_affine_f32_s16_prepare(ember_affine_f32_t *affine,
                                                           ember_node_t *node,
                                                           bool quantize);

// The factor and zero point of this run.
void ember_affine_f32_read(const ember_affine_f32_t *affine, float *factor,
                           float *zero_point);

#endif // EMBER_KERNELS_ENGINE_AFFINE_F32_H
