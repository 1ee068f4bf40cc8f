// SPDX-License-Identifier: Apache-2.0
// dequantize_per_tensor with Helium: int8 to float32. Contract:
// dequantize_per_tensor_f32.h.
#include <arm_mve.h>

#include "kernels/quantized/dequantize_per_tensor_f32.h"

#define SCALE_MIN 0x1p-126f // smaller products would be flushed to 0

static int32_t run(void *state) {
    const ember_affine_f32_t *s = state;
    const int8_t *x = s->x;
    float *y = s->y;
    const int32_t zero = (int32_t)s->zero_point;
    const float scale = s->factor;

    for (int32_t left = (int32_t)s->count; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int32x4_t moved = vsubq_n_s32(vldrbq_z_s32(x, lanes), zero);
        vstrwq_p_f32(y, vmulq_n_f32(vcvtq_f32_s32(moved), scale), lanes);
        x += 4;
        y += 4;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_affine_f32_t *s = state;
    const ember_status_t status = ember_dequantize_f32_prepare(node, state);
    const float limit = 0x1p20f;

    if (status != EMBER_OK) {
        return status;
    }
    if (s->integers != EMBER_S8 || s->scale != NULL || s->zero != NULL ||
        !(s->factor >= SCALE_MIN) || !(s->zero_point >= -limit) ||
        !(s->zero_point <= limit)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "dequantize_mve: not int8");
    }
    return EMBER_OK;
}

EMBER_KERNEL(dequantize_per_tensor_f32_mve, ember_affine_f32_t);
