// SPDX-License-Identifier: Apache-2.0
// The elements of a tensor where a mask is true, one after the other.
#ifndef EMBER_KERNELS_ENGINE_MASKED_H
#define EMBER_KERNELS_ENGINE_MASKED_H

#include "kernels/engine/cursor.h"

typedef struct ember_masked {
    char *mask; // only read
    char *whole;
    uint32_t mask_count;                // elements of the mask itself
    uint32_t repeats;                   // elements of `whole` for each of the mask
    uint8_t size;                       // bytes of an element
    uint8_t dims;                       // of the table; 0: no elements
    int32_t table[EMBER_WALK_ITEMS(2)]; // mask, whole
} ember_masked_t;

bool ember_is_mask_dtype(uint32_t dtype);

// `mask` is a bool or uint8 tensor of `mask_count` elements, seen in the shape of
// `whole`.
EMBER_MUST_USE ember_status_t ember_masked_prepare(ember_masked_t *masked,
                                                   ember_node_t *node,
                                                   const ember_view_t *mask,
                                                   uint32_t mask_count,
                                                   const ember_view_t *whole);

// The number of true elements of the mask itself.
uint32_t ember_masked_count(const ember_masked_t *masked);

// Copies the first `count` elements to `picked`.
void ember_masked_read(const ember_masked_t *masked, char *picked, uint32_t count);

// Finds the single mask in the list of optional index tensors `arg`, and the dimension
// at which it starts. UNSUPPORTED if there are others, or none.
EMBER_MUST_USE ember_status_t ember_masked_index(ember_node_t *node, uint32_t arg,
                                                 ember_tensor_t *mask, uint32_t *place);

#endif // EMBER_KERNELS_ENGINE_MASKED_H
