// SPDX-License-Identifier: Apache-2.0
// quantized_conv2d_groups_hvx: several groups, with Hexagon's vectors.
#include "kernels/engine/hvx/groups_hvx.h"

static int32_t run(void *state) {
    ember_groups_hvx_run(state, NULL);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_groups_hvx_t *s = state;
    const ember_status_t status = ember_conv_s8_plain_args(&s->conv, node);

    return status != EMBER_OK ? status : ember_groups_hvx_prepare(s, node);
}

EMBER_KERNEL(quantized_conv2d_groups_hvx, ember_groups_hvx_t);
