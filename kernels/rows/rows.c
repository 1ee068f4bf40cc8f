// SPDX-License-Identifier: Apache-2.0
// The end of a region of rows: runs its nodes by a table. Contract: rows.h.
#include "kernels/rows/rows_large.h"

static int32_t run(void *state) {
    return run_rows(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_rows_prepare(node, state);
}

EMBER_KERNEL(rows, ember_rows_t);
