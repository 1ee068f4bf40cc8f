// SPDX-License-Identifier: Apache-2.0
// Blocks of a tensor picked by several index tensors, at least one of which is a mask:
// it stands for indices of all the dimensions that it spans, wherever it is true. The
// number of blocks is only known at run time.
//
// The blocks' single dimension replaces the indexed dimensions, or comes first if those
// are not adjacent. Indices next to a mask have at most one dimension.
#ifndef EMBER_KERNELS_MOVEMENT_INDEX_MASKS_H
#define EMBER_KERNELS_MOVEMENT_INDEX_MASKS_H

#include "kernels/engine/pick.h"

// A mask, or an index tensor.
typedef struct ember_masks_item {
    const char *data;
    int32_t *places;               // scratch: of a mask, where blocks start, in bytes
    int32_t count;                 // elements
    int32_t size;                  // of the indexed dimension
    int32_t step;                  // of the indexed dimension, bytes
    int32_t dims;                  // of the mask; 0: an index
    int32_t sizes[EMBER_MAX_RANK]; // of the mask
    int32_t from[EMBER_MAX_RANK];  // its strides, bytes
    int32_t to[EMBER_MAX_RANK];    // those of the tensor
    uint8_t dtype;
} ember_masks_item_t;

typedef struct ember_masks {
    ember_masks_item_t items[EMBER_PICK_INDICES];
    ember_copy_t block;
    char *whole;
    char *picked;
    int32_t picked_count; // blocks to write; negative: they are read
    int32_t picked_step;  // bytes from block to block
    uint32_t indexed;     // bit d: dimension d
    uint8_t count;        // items
    uint8_t rank;         // of what is picked
    uint8_t place;        // of the dimension of blocks
    uint8_t dtype;
    bool add;
    int32_t sizes[EMBER_MAX_RANK]; // of what is picked
} ember_masks_t;

// Reads the list of optional index tensors, argument 1, for `whole`. `sizes` becomes
// the shape of what is picked, with 1 for the number of blocks.
EMBER_MUST_USE ember_status_t ember_masks_read(ember_masks_t *masks, ember_node_t *node,
                                               const ember_view_t *whole);

// Copies the blocks from or to `picked`, a view of that shape with any number of
// blocks.
EMBER_MUST_USE ember_status_t ember_masks_prepare(ember_masks_t *masks,
                                                  ember_node_t *node,
                                                  const ember_view_t *whole,
                                                  const ember_view_t *picked);

// The same for index_put: (self, indices, values, accumulate), where `out` holds self.
EMBER_MUST_USE ember_status_t ember_masks_put(ember_masks_t *masks, ember_node_t *node,
                                              const ember_tensor_t *out);

// Finds the blocks; returns their number, negative if the tensors do not match.
int32_t ember_masks_find(const ember_masks_t *masks);

// Copies that many blocks between those of the tensor at `start` and those in a row at
// `picked`. Returns EMBER_OK, or EMBER_DATA_RANGE.
int32_t ember_masks_move(const ember_masks_t *masks, int32_t blocks, char *start,
                         char *picked);

// Both, for index_put.
int32_t ember_masks_run(const ember_masks_t *masks);

#endif // EMBER_KERNELS_MOVEMENT_INDEX_MASKS_H
