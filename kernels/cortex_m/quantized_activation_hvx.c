// SPDX-License-Identifier: Apache-2.0
// quantized_activation with HVX, 128 elements at a time. Contract:
// quantized_activation.h.
#include "kernels/cortex_m/quantized_activation.h"
#include "kernels/engine/hvx/table_hvx.h"

enum { FEW = 11 }; // elements, for which portable C takes fewer packets

static int32_t run(void *state) {
    const ember_lut_s8_t *s = state;

    ember_look_up_hvx(s->lut, s->x, (int32_t)s->count, s->y);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_lut_s8_t *s = state;
    const ember_status_t status = ember_lut_s8_prepare(node, state);

    if (status == EMBER_OK && s->count < FEW) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "activation_hvx: few elements");
    }
    return status;
}

EMBER_KERNEL(quantized_activation_hvx, ember_lut_s8_t);
