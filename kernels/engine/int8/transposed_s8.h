// SPDX-License-Identifier: Apache-2.0
// A transposed convolution as plain ones: outputs whose positions have the same
// remainder modulo the strides use the same taps, at neighbouring positions of the
// image.
#ifndef EMBER_KERNELS_ENGINE_INT8_TRANSPOSED_S8_H
#define EMBER_KERNELS_ENGINE_INT8_TRANSPOSED_S8_H

#include "kernels/engine/int8/conv_s8.h"

// The most taps of the kernel for one output.
int32_t ember_transposed_s8_taps(const ember_conv_s8_t *conv);

// Makes `part` the plain convolution of the outputs (y, x), (y, x + stride), ..; it may
// have no taps. `weights` (filters, taps, depth) receives its weights.
void ember_transposed_s8_part(const ember_conv_s8_t *conv, int32_t y, int32_t x,
                              ember_conv_s8_t *part, int8_t *weights);

// The place of its outputs.
ember_steps_s8_t ember_transposed_s8_steps(const ember_conv_s8_t *conv);

#endif // EMBER_KERNELS_ENGINE_INT8_TRANSPOSED_S8_H
