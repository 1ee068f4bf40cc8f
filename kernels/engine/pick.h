// SPDX-License-Identifier: Apache-2.0
// Blocks of a tensor picked by index tensors: index, index_select and embedding read
// them, index_put writes them.
//
// A block spans the dimensions that are not indexed. The index tensors broadcast to one
// shape; its dimensions replace the indexed dimensions in the picked tensor, or come
// first if those are not adjacent.
#ifndef EMBER_KERNELS_ENGINE_PICK_H
#define EMBER_KERNELS_ENGINE_PICK_H

#include "kernels/engine/copy.h"
#include "kernels/engine/strided.h"

enum {
    EMBER_PICK_INDICES = EMBER_WALK_OPERANDS - 1, // index tensors of a call
};

// One index tensor, and what it indexes.
typedef struct ember_pick_index {
    int32_t size; // of the indexed dimension
    int32_t step; // of the indexed dimension, bytes
} ember_pick_index_t;

typedef struct ember_pick {
    ember_copy_t block; // one block; its addresses are not used
    char *whole;        // the tensor that is indexed
    char *picked;       // the blocks side by side
    const char *indices[EMBER_PICK_INDICES];
    ember_pick_index_t index[EMBER_PICK_INDICES];
    uint8_t index_dtypes[EMBER_PICK_INDICES];
    uint8_t count; // index tensors
    uint8_t dims;  // of the table; 0: nothing to do
    uint8_t dtype;
    bool wrap;  // negative indices count from the end
    bool write; // from picked to whole
    bool add;   // when writing: add
    int32_t table[EMBER_WALK_ITEMS(EMBER_WALK_OPERANDS)]; // picked, then the indices
} ember_pick_t;

// The call's index tensors and the dimension that each of them indexes, ascending.
typedef struct ember_pick_args {
    ember_tensor_t tensors[EMBER_PICK_INDICES];
    uint32_t dims[EMBER_PICK_INDICES];
    uint32_t count; // at least 1
} ember_pick_args_t;

// Reads the list of optional index tensors `arg`; each item stands for a dimension.
EMBER_MUST_USE ember_status_t ember_pick_list(ember_pick_args_t *args,
                                              ember_node_t *node, uint32_t arg);

// The shape of what is picked from `whole`: returns its rank, fills `sizes`.
uint32_t ember_pick_shape(const ember_pick_args_t *args, ember_node_t *node,
                          const ember_view_t *whole, int32_t *sizes);

// Fills `pick`; `picked` has that shape. The caller sets wrap, write and add.
EMBER_MUST_USE ember_status_t ember_pick_prepare(ember_pick_t *pick, ember_node_t *node,
                                                 const ember_pick_args_t *args,
                                                 const ember_view_t *whole,
                                                 const ember_view_t *picked);

// The whole prepare of a call that reads blocks of argument 0 into output `out`.
EMBER_MUST_USE ember_status_t ember_pick_read(ember_pick_t *pick, ember_node_t *node,
                                              const ember_pick_args_t *args,
                                              uint32_t whole, uint32_t out);

// Adds one block that is not empty, element by element.
void ember_pick_add(const ember_copy_t *block, uint32_t dtype, char *dst,
                    const char *src);

// Returns EMBER_OK or EMBER_DATA_RANGE.
int32_t ember_pick_run(const ember_pick_t *pick);

#endif // EMBER_KERNELS_ENGINE_PICK_H
