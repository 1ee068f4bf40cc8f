// SPDX-License-Identifier: Apache-2.0
// The end of a region of rows: runs its nodes by a table. Contract: rows.h.
#include "kernels/rows/rows_table.h"

static int32_t run(void *state) {
    const ember_rows_t *s = state;
    uint32_t at[EMBER_ROWS_EDGES] = {0};
    int32_t status = EMBER_OK;

    for (uint32_t i = 0; i < s->step_count && status == EMBER_OK; i++) {
        status = ember_rows_act(s, s->actions[s->steps[i]], at);
    }
    return status;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_rows_prepare(node, state);
}

EMBER_KERNEL(rows, ember_rows_t);
