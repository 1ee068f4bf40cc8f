// SPDX-License-Identifier: Apache-2.0
// clamp_s8 with Helium, 16 at a time. Contract: clamp_s8.h.
#include <arm_mve.h>

#include "kernels/elementwise/clamp_s8.h"

static int32_t run(void *state) {
    const ember_clamp_s8_t *s = state;
    const int8x16_t low = vdupq_n_s8(s->low);
    const int8x16_t high = vdupq_n_s8(s->high);
    const int8_t *a = s->a;
    int8_t *y = s->y;

    for (int32_t left = (int32_t)s->count; left > 0; left -= 16) {
        const mve_pred16_t lanes = vctp8q((uint32_t)left);
        const int8x16_t least = vmaxq_s8(vldrbq_z_s8(a, lanes), low);
        vstrbq_p_s8(y, vminq_s8(least, high), lanes);
        a += 16;
        y += 16;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_clamp_s8_prepare(node, state);
}

EMBER_KERNEL(clamp_s8_mve, ember_clamp_s8_t);
