// SPDX-License-Identifier: Apache-2.0
// dequantize_per_tensor, portable. Contract: dequantize_per_tensor_f32.h.
#include "kernels/quantized/dequantize_per_tensor_f32.h"

static int32_t run(void *state) {
    const ember_affine_f32_t *s = state;
    float *y = s->y;
    float scale;
    float zero_point;

    ember_affine_f32_read(s, &scale, &zero_point);
    if (s->integers == EMBER_S8) {
        const int8_t *x = s->x;
        for (uint32_t i = 0; i < s->count; i++) {
            y[i] = ((float)x[i] - zero_point) * scale;
        }
    } else {
        const uint8_t *x = s->x;
        for (uint32_t i = 0; i < s->count; i++) {
            y[i] = ((float)x[i] - zero_point) * scale;
        }
    }
    return EMBER_OK;
}

ember_status_t ember_dequantize_f32_prepare(ember_node_t *node, void *state) {
    const ember_status_t status = ember_affine_f32_prepare(state, node, false);
    if (status == EMBER_OK && ember_node_kind(node, 6) != EMBER_TENSOR &&
        ember_node_int_or(node, 6, EMBER_F32) != (int64_t)EMBER_F32) {
        return EMBER_UNSUPPORTED; // for the general kernel to judge
    }
    return status;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_dequantize_f32_prepare(node, state);
}

EMBER_KERNEL(dequantize_per_tensor_f32, ember_affine_f32_t);
