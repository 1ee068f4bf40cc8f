// SPDX-License-Identifier: Apache-2.0
// What index_put and index_put_ with one mask share: (self, indices, values,
// accumulate).
#ifndef EMBER_KERNELS_MOVEMENT_INDEX_PUT_MASK_H
#define EMBER_KERNELS_MOVEMENT_INDEX_PUT_MASK_H

#include "kernels/engine/masked.h"
#include "kernels/engine/pick.h"

typedef struct ember_put_mask {
    ember_masked_t masked; // the mask itself, and where self has its elements
    ember_copy_t block;    // what one element of the mask stands for
    const char *values;
    int32_t value_count; // blocks of values
    int32_t value_step;  // bytes from block to block; 0: one for all
    uint8_t dtype;
    bool add;
} ember_put_mask_t;

// Prepares to write values to `out`, which holds self already.
EMBER_MUST_USE ember_status_t ember_put_mask_prepare(ember_put_mask_t *put,
                                                     ember_node_t *node,
                                                     const ember_tensor_t *out);

// Returns EMBER_OK, or EMBER_DATA_RANGE if there are too few or too many values.
int32_t ember_put_mask_run(const ember_put_mask_t *put);

#endif // EMBER_KERNELS_MOVEMENT_INDEX_PUT_MASK_H
