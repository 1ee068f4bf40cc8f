// SPDX-License-Identifier: Apache-2.0
// quantized_conv2d_int16_mve: with Helium.
#include "kernels/cortex_m/conv_s16_mve.h"

static int32_t run(void *state) {
    ember_conv_s16_mve_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_conv_s16_mve_t *s = state;
    const ember_status_t status = ember_conv_s16_args(&s->conv, node);

    return status != EMBER_OK ? status : ember_conv_s16_mve_prepare(s, node);
}

EMBER_KERNEL(quantized_conv2d_int16_mve, ember_conv_s16_mve_t);
