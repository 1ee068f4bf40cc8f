// SPDX-License-Identifier: Apache-2.0
// index: self[indices], integer index tensors for some dimensions.
#include "kernels/engine/pick.h"

enum { SELF, INDICES, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_pick_t *pick = state;
    ember_pick_args_t args;
    const ember_status_t status = ember_pick_list(&args, node, INDICES);

    pick->wrap = true;
    return status != EMBER_OK ? status : ember_pick_read(pick, node, &args, SELF, OUT);
}

static int32_t run(void *state) {
    return ember_pick_run(state);
}

EMBER_KERNEL(index, ember_pick_t);
