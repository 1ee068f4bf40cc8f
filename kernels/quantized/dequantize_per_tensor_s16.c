// SPDX-License-Identifier: Apache-2.0
// dequantize_per_tensor of int16, portable. Contract: dequantize_per_tensor_s16.h.
#include "kernels/quantized/dequantize_per_tensor_s16.h"

enum { OUT_DTYPE = 6 };

static int32_t run(void *state) {
    const ember_affine_f32_t *s = state;
    const int16_t *x = s->x;
    float *y = s->y;

    for (uint32_t i = 0; i < s->count; i++) {
        y[i] = (float)x[i] * s->factor;
    }
    return EMBER_OK;
}

ember_status_t ember_dequantize_s16_prepare(ember_node_t *node, void *state) {
    const ember_status_t status = ember_affine_f32_s16_prepare(state, node, false);

    if (status == EMBER_OK && ember_node_kind(node, OUT_DTYPE) != EMBER_TENSOR &&
        ember_node_int_or(node, OUT_DTYPE, EMBER_F32) != (int64_t)EMBER_F32) {
        return EMBER_UNSUPPORTED; // for the general kernel to judge
    }
    return status;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_dequantize_s16_prepare(node, state);
}

EMBER_KERNEL(dequantize_per_tensor_s16, ember_affine_f32_t);
