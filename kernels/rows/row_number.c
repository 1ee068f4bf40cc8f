// SPDX-License-Identifier: Apache-2.0
// ember::row_number.out: counts the rows of an image, for a node that must know which
// row it is given. The number is in memory; a region of rows resets it.
#include "ember/node.h"

typedef struct {
    uint32_t *number;
} state_t;

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t number;

    ember_node_inout(node, 0, &number);
    if (number.dtype != EMBER_S32 || number.numel != 1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "row_number: no int32");
    }
    ember_node_work(node, 1, 1);
    s->number = number.data;
    return ember_node_status(node);
}

static int32_t run(void *state) {
    const state_t *s = state;
    *s->number += 1;
    return EMBER_OK;
}

EMBER_KERNEL(row_number, state_t);
