// SPDX-License-Identifier: Apache-2.0
// quantized_conv2d_int4_mve: with Helium.
#include "kernels/engine/mve/conv_s4_mve.h"

static int32_t run(void *state) {
    ember_conv_s4_mve_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_conv_s4_mve_t *s = state;
    const ember_status_t status = ember_conv_s4_args(&s->columns.conv, node);

    return status != EMBER_OK ? status : ember_conv_s4_mve_prepare(s, node);
}

EMBER_KERNEL(quantized_conv2d_int4_mve, ember_conv_s4_mve_t);
