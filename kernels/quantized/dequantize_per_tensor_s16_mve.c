// SPDX-License-Identifier: Apache-2.0
// dequantize_per_tensor of int16 with Helium. Contract: dequantize_per_tensor_s16.h.
#include <arm_mve.h>

#include "kernels/quantized/dequantize_per_tensor_s16.h"

enum { FOUR = 4 };

static int32_t run(void *state) {
    const ember_affine_f32_t *s = state;
    const int16_t *x = s->x;
    float *y = s->y;

    for (int32_t left = (int32_t)s->count; left > 0; left -= FOUR) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const float32x4_t number = vcvtq_f32_s32(vldrhq_z_s32(x, lanes));
        vstrwq_p_f32(y, vmulq_n_f32(number, s->factor), lanes);
        x += FOUR;
        y += FOUR;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_dequantize_s16_prepare(node, state);
}

EMBER_KERNEL(dequantize_per_tensor_s16_mve, ember_affine_f32_t);
