// SPDX-License-Identifier: Apache-2.0
// Elements where a mask is true. Contract: masked.h.
#include "kernels/engine/masked.h"

#include <string.h>

bool ember_is_mask_dtype(uint32_t dtype) {
    return dtype == EMBER_B1 || dtype == EMBER_U8;
}

ember_status_t ember_masked_prepare(ember_masked_t *masked, ember_node_t *node,
                                    const ember_view_t *mask, uint32_t mask_count,
                                    const ember_view_t *whole) {
    const ember_view_t *const views[] = {mask, whole};
    const int64_t numel = ember_view_numel(whole);

    if (!ember_is_mask_dtype(mask->dtype) || numel > INT32_MAX) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "mask: wrong dtype or size");
    }
    masked->mask = mask->data;
    masked->whole = whole->data;
    masked->mask_count = mask_count;
    masked->repeats = 0;
    masked->size = whole->element_size;
    masked->dims = 0;
    if (numel == 0) {
        return EMBER_OK;
    }
    masked->repeats = (uint32_t)numel / mask_count;
    masked->dims = (uint8_t)ember_cursor_table(views, 2, masked->table);
    return masked->dims > 0
               ? EMBER_OK
               : ember_node_fail(node, EMBER_UNSUPPORTED, "mask: too many dimensions");
}

uint32_t ember_masked_count(const ember_masked_t *masked) {
    uint32_t count = 0;

    for (uint32_t i = 0; i < masked->mask_count; i++) {
        count += masked->mask[i] != 0;
    }
    return count;
}

void ember_masked_read(const ember_masked_t *masked, char *picked, uint32_t count) {
    char *const at[] = {masked->mask, masked->whole};
    ember_cursor_t cursor;

    if (masked->dims == 0 || count == 0) {
        return;
    }
    ember_cursor_start(&cursor, masked->table, masked->dims, 2, at);
    do {
        if (*cursor.at[0] != 0) {
            memmove(picked, cursor.at[1], masked->size);
            picked += masked->size;
            count--;
        }
    } while (count > 0 && ember_cursor_next(&cursor));
}

ember_status_t ember_masked_index(ember_node_t *node, uint32_t arg,
                                  ember_tensor_t *mask, uint32_t *place) {
    const uint32_t items = ember_node_list_count(node, arg);
    uint32_t found = 0;
    ember_tensor_t item;

    memset(mask, 0, sizeof(*mask));
    for (uint32_t d = 0; d < items; d++) {
        if (ember_node_list_tensor(node, arg, d, &item)) {
            *mask = item;
            *place = d;
            found++;
        }
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (found != 1 || !ember_is_mask_dtype(mask->dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "index: needs exactly one mask");
    }
    return EMBER_OK;
}
