// SPDX-License-Identifier: Apache-2.0
// The dialect's quantised convolutions in one and two dimensions, channels first.
#include "kernels/cadence/conv.h"

static int32_t run(void *state) {
    ember_cadence_conv_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_cadence_conv(state, node, false);
}

EMBER_KERNEL(cadence_conv_nchw, ember_cadence_conv_t);
