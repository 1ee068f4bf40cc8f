// SPDX-License-Identifier: Apache-2.0
// y = 0, 1, ... below a number.
#include "kernels/engine/arange.h"

static int32_t run(void *state) {
    return ember_arange_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_value_t zero = {.kind = EMBER_INT, .as_int = 0};
    const ember_value_t one = {.kind = EMBER_INT, .as_int = 1};
    return ember_arange_prepare(node, state, zero, ember_node_scalar(node, 0), one, 1);
}

EMBER_KERNEL(arange, ember_arange_t);
