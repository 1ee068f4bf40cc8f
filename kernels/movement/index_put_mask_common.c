// SPDX-License-Identifier: Apache-2.0
// Writing blocks where a mask is true. Contract: index_put_mask.h.
#include "kernels/movement/index_put_mask.h"

#include <string.h>

enum { SELF, INDICES, VALUES, ACCUMULATE };

// Broadcasts values to self with one dimension in place of the mask's `spans`, whose
// size stays as it is. False if that is impossible.
static bool spread(ember_view_t *values, const ember_view_t *whole, uint32_t place,
                   uint32_t spans) {
    const uint32_t rank = whole->rank - spans + 1;
    int32_t sizes[EMBER_VIEW_RANK];

    if (values->rank > rank) {
        return false;
    }
    for (uint32_t d = 0; d < place; d++) {
        sizes[d] = whole->sizes[d];
    }
    for (uint32_t d = place + 1; d < rank; d++) {
        sizes[d] = whole->sizes[d + spans - 1]; // a mask may have no dimensions
    }
    sizes[place] =
        place + values->rank < rank ? 1 : values->sizes[place + values->rank - rank];
    return ember_view_expand(values, rank, sizes);
}

ember_status_t ember_put_mask_prepare(ember_put_mask_t *put, ember_node_t *node,
                                      const ember_tensor_t *out) {
    ember_tensor_t mask;
    ember_view_t whole, values, where, spanned;
    uint32_t place = 0;
    const ember_status_t status = ember_masked_index(node, INDICES, &mask, &place);

    if (status != EMBER_OK) {
        return status;
    }
    ember_view_tensor(&whole, out);
    ember_view_arg(&values, node, VALUES);
    put->add = ember_node_bool(node, ACCUMULATE);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&where, &mask);
    if (place + mask.rank > whole.rank ||
        memcmp(where.sizes, whole.sizes + place, mask.rank * sizeof(int32_t)) != 0 ||
        !spread(&values, &whole, place, mask.rank)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "index_put: shapes");
    }
    if (values.dtype != whole.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index_put: dtypes differ");
    }
    put->values = values.data;
    put->value_count = values.sizes[place];
    put->value_step = put->value_count == 1 ? 0 : values.strides[place];
    put->dtype = whole.dtype;
    spanned = where; // the dimensions of self that the mask spans
    spanned.data = whole.data;
    spanned.element_size = whole.element_size;
    memcpy(spanned.strides, whole.strides + place, mask.rank * sizeof(int32_t));
    for (uint32_t d = 0; d < mask.rank; d++) {
        ember_view_drop(&whole, place);
    }
    ember_view_drop(&values, place);
    const ember_status_t fits = ember_copy_prepare(&put->block, node, &whole, &values);
    return fits == EMBER_OK
               ? ember_masked_prepare(&put->masked, node, &where, mask.numel, &spanned)
               : fits;
}

int32_t ember_put_mask_run(const ember_put_mask_t *put) {
    char *const at[] = {put->masked.mask, put->masked.whole};
    const char *value = put->values;
    int32_t seen = 0;
    ember_cursor_t cursor;

    if (put->masked.dims == 0 || put->block.run == 0) {
        return EMBER_OK;
    }
    ember_cursor_start(&cursor, put->masked.table, put->masked.dims, 2, at);
    do {
        if (*cursor.at[0] == 0) {
            continue;
        }
        if (put->value_count != 1 && seen == put->value_count) {
            return EMBER_DATA_RANGE;
        }
        if (put->add) {
            ember_pick_add(&put->block, put->dtype, cursor.at[1], value);
        } else {
            ember_copy_run_at(&put->block, cursor.at[1], value);
        }
        value += put->value_step;
        seen++;
    } while (ember_cursor_next(&cursor));
    return put->value_count == 1 || seen == put->value_count ? EMBER_OK
                                                             : EMBER_DATA_RANGE;
}
