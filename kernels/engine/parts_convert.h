// SPDX-License-Identifier: Apache-2.0
// Parts of any dtypes and dim orders joined to a whole of another dtype: cat and stack
// with type promotion.
#ifndef EMBER_KERNELS_ENGINE_PARTS_CONVERT_H
#define EMBER_KERNELS_ENGINE_PARTS_CONVERT_H

#include "kernels/engine/convert.h"
#include "kernels/engine/parts.h"

enum { EMBER_PARTS_CONVERTED = 8 };

typedef struct ember_parts_converted {
    ember_parts_t parts; // the first member
    ember_convert_t items[EMBER_PARTS_CONVERTED];
} ember_parts_converted_t;

// An ember_part_list_t's `convert` for a state of that type.
EMBER_MUST_USE ember_status_t ember_parts_convert(ember_parts_t *parts,
                                                  ember_node_t *node,
                                                  const ember_view_t *region,
                                                  const ember_view_t *part);

void ember_parts_convert_run(const ember_parts_converted_t *converted);

#endif // EMBER_KERNELS_ENGINE_PARTS_CONVERT_H
