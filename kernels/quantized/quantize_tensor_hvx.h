// SPDX-License-Identifier: Apache-2.0
// Whole tensors quantised by one scale with HVX.
#ifndef EMBER_KERNELS_QUANTIZED_QUANTIZE_TENSOR_HVX_H
#define EMBER_KERNELS_QUANTIZED_QUANTIZE_TENSOR_HVX_H

#include "kernels/quantized/quantize_per_tensor_f32.h"

// UNSUPPORTED for ranges without 0, few elements, and scales that are not for vectors.
EMBER_MUST_USE ember_status_t
ember_quantize_tensor_hvx_prepare(ember_node_t *node, ember_quantize_f32_t *s);
// `state` is an ember_quantize_f32_t; `low` and `high` may be others than those of the
// call.
int32_t ember_quantize_tensor_hvx_run(void *state);

#endif // EMBER_KERNELS_QUANTIZED_QUANTIZE_TENSOR_HVX_H
