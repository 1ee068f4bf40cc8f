// SPDX-License-Identifier: Apache-2.0
// One tensor made of parts along a dimension: cat and stack put parts together,
// split and unbind take them apart.
//
// Each part is dense, so that one step along the outer dimensions moves one run of
// bytes per part. Any dim order works as long as all tensors share it; a few parts in
// other orders become strided copies.
//
// A call may have any number of parts but a state has a fixed size, so operators come
// in sizes: EMBER_PARTS_FEW, _MANY, _MOST and _STRIDED, as candidates in this order.
// Parts with other dtypes than the whole come last: parts_convert.h.
#ifndef EMBER_KERNELS_ENGINE_PARTS_H
#define EMBER_KERNELS_ENGINE_PARTS_H

#include "kernels/engine/copy.h"

enum {
    EMBER_PARTS_FEW = 8,
    EMBER_PARTS_MANY = 64,
    EMBER_PARTS_MOST = 512,
    EMBER_PARTS_STRIDED = 4
};

typedef struct ember_part {
    uint8_t *data;
    uint32_t run; // bytes of the part in each row of the whole
} ember_part_t;

typedef struct ember_parts {
    uint8_t *whole;
    uint32_t rows;
    uint16_t count; // parts in use; empty ones are left out
    uint16_t most;  // items that fit
} ember_parts_t;

// A state of each size.
typedef struct ember_parts_few {
    ember_parts_t parts;
    ember_part_t items[EMBER_PARTS_FEW];
} ember_parts_few_t;

typedef struct ember_parts_many {
    ember_parts_t parts;
    ember_part_t items[EMBER_PARTS_MANY];
} ember_parts_many_t;

typedef struct ember_parts_most {
    ember_parts_t parts;
    ember_part_t items[EMBER_PARTS_MOST];
} ember_parts_most_t;

typedef struct ember_parts_strided {
    ember_parts_t parts;
    ember_copy_t items[EMBER_PARTS_STRIDED];
} ember_parts_strided_t;

// The items of a state, one of the three. `convert` adds an item of any dtype.
typedef struct ember_part_list {
    ember_part_t *dense;
    ember_copy_t *strided;
    ember_status_t (*convert)(ember_parts_t *parts, ember_node_t *node,
                              const ember_view_t *region, const ember_view_t *part);
} ember_part_list_t;

// The whole prepare of cat and stack: (tensors, dim, out).
EMBER_MUST_USE ember_status_t ember_parts_prepare_cat(ember_parts_t *parts,
                                                      ember_part_list_t items,
                                                      ember_node_t *node,
                                                      uint32_t most);
EMBER_MUST_USE ember_status_t ember_parts_prepare_stack(ember_parts_t *parts,
                                                        ember_part_list_t items,
                                                        ember_node_t *node,
                                                        uint32_t most);

// The whole prepare of unbind (self, dim, out), split (self, split_size, dim, out)
// and split_with_sizes (self, split_sizes, dim, out).
EMBER_MUST_USE ember_status_t ember_parts_prepare_unbind(ember_parts_t *parts,
                                                         ember_part_list_t items,
                                                         ember_node_t *node,
                                                         uint32_t most);
EMBER_MUST_USE ember_status_t ember_parts_prepare_split(ember_parts_t *parts,
                                                        ember_part_list_t items,
                                                        ember_node_t *node,
                                                        uint32_t most);

// Parts to whole, and whole to parts.
void ember_parts_join(const ember_parts_t *parts, const ember_part_t *items);
void ember_parts_part(const ember_parts_t *parts, const ember_part_t *items);

// The same in either direction, for strided parts.
void ember_parts_copy(const ember_parts_strided_t *strided);

#endif // EMBER_KERNELS_ENGINE_PARTS_H
