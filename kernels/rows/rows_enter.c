// SPDX-License-Identifier: Apache-2.0
// The start of a region of rows: its nodes are left to the call of rows after them.
// Contract: rows.h.
#include "kernels/rows/rows.h"

#include "../../runtime_c/src/method_state.h"

enum { NODES, INPUTS, SLAB }; // lists of tensors are for the planner

static int32_t run(void *state) {
    const ember_rows_enter_t *s = state;
    return s->next;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_rows_enter_t *s = state;
    ember_tensor_t slab;
    const uint32_t left = node->method->meta.instruction_count - node->instruction;
    const int32_t nodes = ember_node_int_in(node, NODES, 1, (int64_t)left - 2);

    ember_node_inout(node, SLAB, &slab);
    s->work = node->method->work;
    s->next = (int32_t)node->instruction + nodes + 2;
    return ember_node_status(node);
}

EMBER_KERNEL(rows_enter, ember_rows_enter_t);
