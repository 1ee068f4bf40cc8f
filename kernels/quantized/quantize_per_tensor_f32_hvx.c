// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor with HVX. Contract: quantize_tensor_hvx.h.
#include "kernels/quantized/quantize_tensor_hvx.h"

static int32_t run(void *state) {
    return ember_quantize_tensor_hvx_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_quantize_tensor_hvx_prepare(node, state);
}

EMBER_KERNEL(quantize_per_tensor_f32_hvx, ember_quantize_f32_t);
