// SPDX-License-Identifier: Apache-2.0
// y[i] = start + i step, in int64 for integer outputs and in double for others.
#ifndef EMBER_KERNELS_ENGINE_ARANGE_H
#define EMBER_KERNELS_ENGINE_ARANGE_H

#include "ember/node.h"
#include "kernels/engine/element.h"

typedef struct ember_arange {
    void *data;
    uint32_t count; // elements
    uint8_t dtype;
    uint8_t class; // of start and step: s64 or f64
    uint8_t size;  // bytes of an element
    ember_number_t start;
    ember_number_t step;
} ember_arange_t;

// The output is argument `out`, of one dimension.
EMBER_MUST_USE ember_status_t ember_arange_prepare(ember_node_t *node, void *state,
                                                   ember_value_t start,
                                                   ember_value_t end,
                                                   ember_value_t step, uint32_t out);
int32_t ember_arange_run(void *state);

#endif // EMBER_KERNELS_ENGINE_ARANGE_H
