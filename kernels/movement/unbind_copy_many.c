// SPDX-License-Identifier: Apache-2.0
// unbind_copy_many: one output for each index of a dimension. At most
// EMBER_PARTS_MANY of them, of one dtype, all of one dim order.
#include "kernels/engine/parts.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_parts_many_t *self = state;
    const ember_part_list_t items = {.dense = self->items};

    return ember_parts_prepare_unbind(&self->parts, items, node, EMBER_PARTS_MANY);
}

static int32_t run(void *state) {
    const ember_parts_many_t *self = state;

    ember_parts_part(&self->parts, self->items);
    return EMBER_OK;
}

EMBER_KERNEL(unbind_copy_many, ember_parts_many_t);
