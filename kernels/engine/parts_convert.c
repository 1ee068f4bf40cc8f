// SPDX-License-Identifier: Apache-2.0
// Parts that change dtype. Contract: parts_convert.h.
#include "kernels/engine/parts_convert.h"

ember_status_t ember_parts_convert(ember_parts_t *parts, ember_node_t *node,
                                   const ember_view_t *region,
                                   const ember_view_t *part) {
    ember_parts_converted_t *converted = (ember_parts_converted_t *)parts;

    if (parts->count == EMBER_PARTS_CONVERTED) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "parts: count");
    }
    for (uint32_t d = 0; d < region->rank; d++) {
        if (region->rank != part->rank || region->sizes[d] != part->sizes[d]) {
            return ember_node_fail(node, EMBER_BAD_PROGRAM, "parts: shapes differ");
        }
    }
    return ember_convert_views(&converted->items[parts->count++], node, region, part);
}

void ember_parts_convert_run(const ember_parts_converted_t *converted) {
    for (uint32_t i = 0; i < converted->parts.count; i++) {
        ember_convert_run(&converted->items[i]);
    }
}
