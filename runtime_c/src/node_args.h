// SPDX-License-Identifier: Apache-2.0
// What the parts of a call share: its values by argument. Internal.
#ifndef EMBER_NODE_ARGS_H
#define EMBER_NODE_ARGS_H

#include "method_state.h"

// Records that an argument is not of the kind that the kernel asks for.
EMBER_LOCAL void ember_node_wrong_kind(ember_node_t *node);

// The integer that a kernel asked for; 0, and a failure, if it is something else.
EMBER_LOCAL int64_t ember_node_from_bool(ember_node_t *node, ember_value_t *value);
EMBER_INLINE int64_t ember_node_to_int(ember_node_t *node, ember_value_t *value) {
    return value->kind == EMBER_INT ? value->as_int : ember_node_from_bool(node, value);
}

// Value index of a tensor list's item, or NO_VALUE for None.
EMBER_LOCAL uint32_t ember_node_list_index(ember_node_t *node, uint32_t arg,
                                           uint32_t item);

// Value index of an argument, or NO_VALUE.
EMBER_INLINE uint32_t ember_node_index(const ember_node_t *node, uint32_t arg) {
    return arg < vector_count(node->args) ? vector_u32(node->args, arg) : NO_VALUE;
}

// The value of an argument, of a tensor only the kind; EMBER_NONE past the end.
EMBER_INLINE void ember_node_get(const ember_node_t *node, uint32_t arg,
                                 ember_value_t *value) {
    if (arg < vector_count(node->args)) {
        ember_method_scalar(node->method, vector_u32(node->args, arg), value);
    } else {
        value->kind = EMBER_NONE;
    }
}

// Steps for an empty tensor: what a walk over its dimensions may visit.
EMBER_LOCAL uint32_t ember_node_places(const ember_tensor_t *tensor);

// Returns a tensor; one without memory makes the node unbound.
EMBER_INLINE void ember_node_take(ember_node_t *node, uint32_t index,
                                  ember_tensor_t *tensor) {
    if (index == NO_VALUE || !ember_method_tensor(node->method, index, tensor)) {
        memset(tensor, 0, sizeof(*tensor));
        ember_node_wrong_kind(node);
        return;
    }
    node->work += tensor->numel != 0 ? tensor->numel : ember_node_places(tensor);
    if (tensor->data == NULL && tensor->numel != 0) {
        node->unbound = true;
        if (node->strict) {
            (void)ember_node_fail(node, EMBER_BAD_ARGUMENT,
                                  "call: a tensor has no memory");
        }
    }
}

#endif // EMBER_NODE_ARGS_H
