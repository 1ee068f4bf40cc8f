// SPDX-License-Identifier: Apache-2.0
// The outputs of a kernel and their shapes.
#include "node_args.h"

enum { KEEP_SHAPE = EMBER_MAX_RANK + 1 }; // in place of a rank

static void output(ember_node_t *node, uint32_t index, uint32_t rank,
                   const int32_t *sizes, ember_tensor_t *tensor) {
    ember_slot_t *slot;
    const uint32_t source = ember_method_resolve(node->method, index, &slot);
    const bool fits =
        slot == NULL || rank == KEEP_SHAPE || node->status != EMBER_OK ||
        node->method->parts->reshape(node->method, source, slot, rank, sizes);
    ember_node_take(node, index, tensor);
    if (!fits || (rank != KEEP_SHAPE && !ember_tensor_has_shape(tensor, rank, sizes))) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "call: its output has the wrong shape or is too small");
    }
    if (tensor->constant) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "call: its output is a constant");
    }
}

void ember_node_output(ember_node_t *node, uint32_t arg, uint32_t rank,
                       const int32_t *sizes, ember_tensor_t *tensor) {
    output(node, ember_node_index(node, arg), rank, sizes, tensor);
}

void ember_node_output_like(ember_node_t *node, uint32_t arg,
                            const ember_tensor_t *like, ember_tensor_t *tensor) {
    output(node, ember_node_index(node, arg), like->rank, like->sizes, tensor);
}

void ember_node_inout(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor) {
    output(node, ember_node_index(node, arg), KEEP_SHAPE, NULL, tensor);
}

void ember_node_list_output(ember_node_t *node, uint32_t arg, uint32_t item,
                            uint32_t rank, const int32_t *sizes,
                            ember_tensor_t *tensor) {
    output(node, ember_node_list_index(node, arg, item), rank, sizes, tensor);
}

ember_slot_t *ember_node_slot(ember_node_t *node, uint32_t arg) {
    ember_slot_t *slot = ember_method_slot(node->method, ember_node_index(node, arg));
    if (slot == NULL) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "call: a result is a value that cannot change");
    }
    return slot;
}

void ember_node_bind(ember_node_t *node, uint32_t arg, uint32_t rank,
                     const int32_t *sizes, const ember_tensor_t *base) {
    ember_slot_t *slot = ember_node_slot(node, arg);
    if (slot == NULL || node->status != EMBER_OK) {
        return;
    }
    if (slot->kind != EMBER_TENSOR) {
        ember_node_wrong_kind(node);
        return;
    }
    const bool moved = slot->tensor.data != base->data ||
                       slot->constant != base->constant || slot->source != NO_SOURCE;
    slot->source = NO_SOURCE;
    slot->view = true;
    slot->constant = base->constant;
    slot->tensor.data = base->data;
    slot->tensor.capacity = (uint32_t)ember_tensor_bytes(base);
    if (moved) {
        ember_slot_touch(slot);
    }
    ember_tensor_t view;
    // unreached: what took a shape is a tensor
    if (!ember_method_reshape(node->method, slot->index, slot, rank, sizes) ||
        !ember_method_tensor(node->method, slot->index, &view) ||
        ember_tensor_bytes(&view) > slot->tensor.capacity ||
        ((uintptr_t)base->data & (view.element_size - 1u)) != 0) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "view: its shape does not fit");
        slot->tensor.data = NULL;
    }
}
