// SPDX-License-Identifier: Apache-2.0
// quantized_activation with HVX, 128 elements at a time. Contract:
// quantized_activation.h.
#include "kernels/cortex_m/quantized_activation.h"
#include "kernels/cortex_m/table_hvx.h"

static int32_t run(void *state) {
    const ember_lut_s8_t *s = state;

    ember_look_up_hvx(s->lut, s->x, (int32_t)s->count, s->y);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_lut_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_activation_hvx, ember_lut_s8_t);
