// SPDX-License-Identifier: Apache-2.0
// ember::quantized_conv2d_panels.out
#include "kernels/engine/int8/panels_s8.h"

static int32_t run(void *state) {
    ember_panels_s8_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_panels_s8_args(state, node);
}

EMBER_KERNEL(quantized_conv2d_panels, ember_panels_s8_t);
