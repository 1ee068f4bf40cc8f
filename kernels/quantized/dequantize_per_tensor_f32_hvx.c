// SPDX-License-Identifier: Apache-2.0
// dequantize_per_tensor with HVX, int8 or uint8 to float32. Contract:
// dequantize_per_tensor_f32.h.
#include "kernels/engine/hvx/dequantize_hvx.h"
#include "kernels/quantized/dequantize_per_tensor_f32.h"

static int32_t run(void *state) {
    const ember_affine_f32_t *s = state;
    const int32_t zero = (int32_t)s->zero_point;

    if (s->integers == EMBER_U8) {
        ember_dequantize_u8_hvx(s->x, s->count, s->factor, zero, s->y);
    } else {
        ember_dequantize_s8_hvx(s->x, s->count, s->factor, zero, s->y);
    }
    return EMBER_OK;
}

static bool takes(const ember_affine_f32_t *s) {
    const float least = s->integers == EMBER_U8 ? 0.0f : (float)INT8_MIN;
    return (s->integers == EMBER_S8 || s->integers == EMBER_U8) && s->scale == NULL &&
           s->zero == NULL && ember_dequantize_hvx_takes(s->factor) &&
           s->zero_point >= least && s->zero_point <= least + 255.0f &&
           s->count <= 1 << 28;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_affine_f32_t *s = state;
    const ember_status_t status = ember_dequantize_f32_prepare(node, state);

    if (status == EMBER_OK && !takes(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "dequantize_hvx: not bytes");
    }
    return status;
}

EMBER_KERNEL(dequantize_per_tensor_f32_hvx, ember_affine_f32_t);
