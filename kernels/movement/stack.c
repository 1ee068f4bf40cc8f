// SPDX-License-Identifier: Apache-2.0
// stack: tensors side by side along a new dimension. At most EMBER_PARTS_FEW of
// them, of one dtype, all of one dim order.
#include "kernels/engine/parts.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_parts_few_t *self = state;
    const ember_part_list_t items = {.dense = self->items};

    return ember_parts_prepare_stack(&self->parts, items, node, EMBER_PARTS_FEW);
}

static int32_t run(void *state) {
    const ember_parts_few_t *self = state;

    ember_parts_join(&self->parts, self->items);
    return EMBER_OK;
}

EMBER_KERNEL(stack, ember_parts_few_t);
