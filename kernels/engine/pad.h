// SPDX-License-Identifier: Apache-2.0
// A tensor padded with a value; negative amounts cut elements off.
#ifndef EMBER_KERNELS_ENGINE_PAD_H
#define EMBER_KERNELS_ENGINE_PAD_H

#include "kernels/engine/copy.h"
#include "kernels/engine/fill.h"

typedef struct ember_pad {
    ember_copy_t copy;
    ember_fill_t fill;
    bool whole; // nothing is filled: the copy covers the output
} ember_pad_t;

// Elements before and after each dimension, more than -INT32_MAX each.
typedef struct ember_pad_amounts {
    int32_t before[EMBER_MAX_RANK];
    int32_t after[EMBER_MAX_RANK];
} ember_pad_amounts_t;

// Pads `self` to the whole of output `out`, whose shape follows. Returns an earlier
// failure of the node first.
EMBER_MUST_USE ember_status_t ember_pad_prepare(ember_node_t *node, ember_pad_t *pad,
                                                uint32_t out, ember_view_t *self,
                                                const ember_pad_amounts_t *amounts,
                                                ember_value_t value);

// The same for elements of one byte.
EMBER_MUST_USE ember_status_t ember_pad_bytes(ember_node_t *node, ember_pad_t *pad,
                                              uint32_t out, ember_view_t *self,
                                              const ember_pad_amounts_t *amounts,
                                              uint8_t value);

int32_t ember_pad_run(void *pad);

#endif // EMBER_KERNELS_ENGINE_PAD_H
