// SPDX-License-Identifier: Apache-2.0
// quantized_activation with Helium, 16 elements at a time. Contract:
// quantized_activation.h.
#include <arm_mve.h>

#include "kernels/cortex_m/quantized_activation.h"

static int32_t run(void *state) {
    const ember_lut_s8_t *s = state;
    const int8_t *x = s->x;
    int8_t *y = s->y;

    for (int32_t left = (int32_t)s->count; left > 0; left -= 16) {
        const mve_pred16_t lanes = vctp8q((uint32_t)left);
        const uint8x16_t at = vreinterpretq_u8_s8(vldrbq_z_s8(x, lanes));
        const uint8x16_t place = vaddq_n_u8(at, 128);
        vstrbq_p_s8(y, vldrbq_gather_offset_z_s8(s->lut, place, lanes), lanes);
        x += 16;
        y += 16;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_lut_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_activation_mve, ember_lut_s8_t);
