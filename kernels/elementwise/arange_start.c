// SPDX-License-Identifier: Apache-2.0
// y = start, start + step, ... before end.
#include "kernels/engine/arange.h"

static int32_t run(void *state) {
    return ember_arange_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_value_t start = ember_node_scalar(node, 0);
    const ember_value_t end = ember_node_scalar(node, 1);
    return ember_arange_prepare(node, state, start, end, ember_node_scalar(node, 2), 3);
}

EMBER_KERNEL(arange_start, ember_arange_t);
