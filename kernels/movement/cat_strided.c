// SPDX-License-Identifier: Apache-2.0
// cat_strided: tensors one after another along a dimension. At most
// EMBER_PARTS_STRIDED of them, of one dtype, in any dim orders.
#include "kernels/engine/parts.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_parts_strided_t *self = state;
    const ember_part_list_t items = {.strided = self->items};

    return ember_parts_prepare_cat(&self->parts, items, node, EMBER_PARTS_STRIDED);
}

static int32_t run(void *state) {
    ember_parts_copy(state);
    return EMBER_OK;
}

EMBER_KERNEL(cat_strided, ember_parts_strided_t);
