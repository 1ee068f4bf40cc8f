// SPDX-License-Identifier: Apache-2.0
// clamp_s8 with HVX, 128 at a time. Contract: clamp_s8.h.
#include "kernels/elementwise/clamp_s8.h"
#include "kernels/engine/hvx/scale_hvx.h"

static int32_t run(void *state) {
    const ember_clamp_s8_t *s = state;
    const HVX_Vector low = Q6_Vb_vsplat_R(s->low);
    const HVX_Vector high = Q6_Vb_vsplat_R(s->high);
    const int8_t *a = s->a;
    int8_t *y = s->y;

    for (int32_t left = (int32_t)s->count; left > 0; left -= EMBER_HVX) {
        const HVX_Vector least = Q6_Vb_vmax_VbVb(ember_load_left_hvx(a, left), low);
        ember_store_left_hvx(y, Q6_Vb_vmin_VbVb(least, high), left);
        a += EMBER_HVX;
        y += EMBER_HVX;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_clamp_s8_prepare(node, state);
}

EMBER_KERNEL(clamp_s8_hvx, ember_clamp_s8_t);
