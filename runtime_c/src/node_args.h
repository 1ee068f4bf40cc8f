// SPDX-License-Identifier: Apache-2.0
// What the parts of a call share: its values by argument. Internal.
#ifndef EMBER_NODE_ARGS_H
#define EMBER_NODE_ARGS_H

#include "method_state.h"

// Records that an argument is not of the kind that the kernel asks for.
EMBER_LOCAL void ember_node_wrong_kind(ember_node_t *node);

// The integer that value `index` is; 0, and a failure, if it is something else.
EMBER_LOCAL __attribute__((noinline)) int64_t ember_node_int_at(ember_node_t *node,
                                                                uint32_t index);

// Value index of a tensor list's item, or NO_VALUE for None.
EMBER_LOCAL uint32_t ember_node_list_index(ember_node_t *node, uint32_t arg,
                                           uint32_t item);

// Value index of an argument, or NO_VALUE.
EMBER_INLINE uint32_t ember_node_index(const ember_node_t *node, uint32_t arg) {
    return arg < vector_count(node->args) ? vector_u32(node->args, arg) : NO_VALUE;
}

// The value of an argument, of a tensor only the kind; EMBER_NONE past the end.
EMBER_LOCAL __attribute__((noinline)) void
ember_node_get(const ember_node_t *node, uint32_t arg, ember_value_t *value);

// Steps for an empty tensor: what a walk over its dimensions may visit. Below 2^31, for
// that is what reading a shape and changing it check, sizes of 0 taken as 1.
EMBER_LOCAL uint32_t ember_node_places(const ember_tensor_t *tensor);

// Returns a tensor; one without memory makes the node unbound.
EMBER_LOCAL __attribute__((noinline)) void
ember_node_take(ember_node_t *node, uint32_t index, ember_tensor_t *tensor);

#endif // EMBER_NODE_ARGS_H
