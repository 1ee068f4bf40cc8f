// SPDX-License-Identifier: Apache-2.0
// stack_most: tensors side by side along a new dimension. At most EMBER_PARTS_MOST
// of them, of one dtype, all of one dim order.
#include "kernels/engine/parts.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_parts_most_t *self = state;
    const ember_part_list_t items = {.dense = self->items};

    return ember_parts_prepare_stack(&self->parts, items, node, EMBER_PARTS_MOST);
}

static int32_t run(void *state) {
    const ember_parts_most_t *self = state;

    ember_parts_join(&self->parts, self->items);
    return EMBER_OK;
}

EMBER_KERNEL(stack_most, ember_parts_most_t);
