// SPDX-License-Identifier: Apache-2.0
// cadence::im2row. Contract: rows.h.
#include "kernels/cadence/rows.h"

static int32_t run(void *state) {
    ember_cadence_rows_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_cadence_rows(state, node, false);
}

EMBER_KERNEL(cadence_im2row, ember_cadence_rows_t);
