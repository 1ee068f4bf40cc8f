// SPDX-License-Identifier: Apache-2.0
// quantized_activation with Hexagon's vectors, 128 elements at a time: an instruction
// looks up 32 entries of the table. Contract: quantized_activation.h.
#include "kernels/cortex_m/quantized_activation.h"
#include "kernels/cortex_m/scale_hvx.h"

static int32_t run(void *state) {
    const ember_lut_s8_t *s = state;
    const HVX_Vector flip = Q6_Vb_vsplat_R(INT8_MIN);
    const HVX_Vector low = Q6_Vb_vshuff_Vb(ember_hvx_load_any(s->lut));
    const HVX_Vector high = Q6_Vb_vshuff_Vb(ember_hvx_load_any(s->lut + EMBER_HVX));
    const int8_t *x = s->x;
    int8_t *y = s->y;

    for (int32_t left = (int32_t)s->count; left > 0; left -= EMBER_HVX) {
        const HVX_Vector place = Q6_V_vxor_VV(ember_load_left_hvx(x, left), flip);
        HVX_Vector found = Q6_V_vzero();
        EMBER_HVX_UNROLL
        for (int part = 0; part < 4; part++) {
            found = Q6_Vb_vlut32or_VbVbVbR(found, place, low, part);
            found = Q6_Vb_vlut32or_VbVbVbR(found, place, high, part + 4);
        }
        ember_store_left_hvx(y, found, left);
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_lut_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_activation_hvx, ember_lut_s8_t);
