// SPDX-License-Identifier: Apache-2.0
// Fills a whole tensor with one number: the dim order does not matter.
#ifndef EMBER_KERNELS_ENGINE_FILL_H
#define EMBER_KERNELS_ENGINE_FILL_H

#include "ember/node.h"
#include "kernels/engine/element.h"

typedef struct ember_fill {
    void *data;
    uint32_t count;     // elements
    uint32_t size;      // bytes of one
    uint32_t number[2]; // the element's bytes first
} ember_fill_t;

// Checks that output `arg` has the shape of the int list at argument 0, which may be a
// list of one symbolic size.
void ember_fill_output(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor);

// Fills `state` with `value`, which must fit the dtype of `tensor`; returns the node's
// status.
EMBER_MUST_USE ember_status_t ember_fill_prepare(ember_node_t *node, void *state,
                                                 const ember_tensor_t *tensor,
                                                 ember_value_t value);
int32_t ember_fill_run(const void *state);

static inline ember_value_t ember_fill_int(int64_t number) {
    return (ember_value_t){.kind = EMBER_INT, .as_int = number};
}

#endif // EMBER_KERNELS_ENGINE_FILL_H
