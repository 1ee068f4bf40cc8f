// SPDX-License-Identifier: Apache-2.0
// cat_convert: tensors one after another along a dimension. At most
// EMBER_PARTS_CONVERTED of them, of any dtypes, in any dim orders.
#include "kernels/engine/parts_convert.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_parts_converted_t *self = state;
    const ember_part_list_t items = {.convert = ember_parts_convert};

    return ember_parts_prepare_cat(&self->parts, items, node, EMBER_PARTS_CONVERTED);
}

static int32_t run(void *state) {
    ember_parts_convert_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(cat_convert, ember_parts_converted_t);
