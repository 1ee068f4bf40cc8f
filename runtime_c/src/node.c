// SPDX-License-Identifier: Apache-2.0
// What kernels ask of a call while they are prepared.
#include "method_state.h"

#if EMBER_ERROR_STRINGS
ember_status_t ember_node_note(ember_node_t *node, ember_status_t status,
                               const char *message) {
    if (node->status == EMBER_OK) {
        node->status = ember_error_set(&node->method->error, status, message);
    }
    return node->status;
}
#else
ember_status_t ember_node_note(ember_node_t *node, ember_status_t status) {
    if (node->status == EMBER_OK) {
        node->status = status;
    }
    return node->status;
}
#endif

ember_status_t ember_node_status(const ember_node_t *node) {
    return node->status;
}

uint32_t ember_node_arg_count(const ember_node_t *node) {
    return vector_count(node->args);
}

uint64_t ember_node_seed(const ember_node_t *node) {
    return node->method->clock << 32 | node->instruction;
}

static void get(const ember_node_t *node, uint32_t arg, ember_value_t *value) {
    if (arg < vector_count(node->args)) {
        ember_method_value(node->method, vector_u32(node->args, arg), value);
    } else {
        value->kind = EMBER_NONE;
    }
}

ember_kind_t ember_node_kind(ember_node_t *node, uint32_t arg) {
    if (arg >= vector_count(node->args)) {
        return EMBER_NONE;
    }
    return ember_method_kind(node->method, vector_u32(node->args, arg));
}

static void wrong_kind(ember_node_t *node) {
    (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "call: an argument of another kind");
}

// Hands out a value that must be a tensor; one without memory makes the node unbound.
static void take_tensor(ember_node_t *node, const ember_value_t *value,
                        ember_tensor_t *tensor) {
    if (value->kind != EMBER_TENSOR) {
        memset(tensor, 0, sizeof(*tensor));
        wrong_kind(node);
        return;
    }
    *tensor = value->as_tensor;
    if (tensor->data == NULL && tensor->numel != 0) {
        node->unbound = true;
        if (node->strict) {
            (void)ember_node_fail(node, EMBER_BAD_ARGUMENT,
                                  "call: a tensor has no memory");
        }
    }
}

void ember_node_tensor(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor) {
    ember_value_t value;
    get(node, arg, &value);
    take_tensor(node, &value, tensor);
}

bool ember_node_optional_tensor(ember_node_t *node, uint32_t arg,
                                ember_tensor_t *tensor) {
    if (ember_node_kind(node, arg) == EMBER_NONE) {
        memset(tensor, 0, sizeof(*tensor));
        return false;
    }
    ember_node_tensor(node, arg, tensor);
    return true;
}

// --- scalars -------------------------------------------------------------------

static ember_value_t scalar_of(ember_node_t *node, ember_value_t value) {
    if (value.kind == EMBER_BOOL) {
        value.as_int = value.as_bool ? 1 : 0;
    } else if (value.kind != EMBER_INT && value.kind != EMBER_DOUBLE) {
        wrong_kind(node);
        value.kind = EMBER_INT;
        value.as_int = 0;
    }
    return value;
}

ember_value_t ember_node_scalar(ember_node_t *node, uint32_t arg) {
    ember_value_t value;
    get(node, arg, &value);
    return scalar_of(node, value);
}

static int64_t int_of(ember_node_t *node, ember_value_t value) {
    value = scalar_of(node, value);
    if (value.kind == EMBER_DOUBLE) {
        wrong_kind(node);
        return 0;
    }
    return value.as_int;
}

int64_t ember_node_int(ember_node_t *node, uint32_t arg) {
    ember_value_t value;
    get(node, arg, &value);
    return int_of(node, value);
}

bool ember_node_bool(ember_node_t *node, uint32_t arg) {
    return ember_node_int(node, arg) != 0;
}

double ember_node_double(ember_node_t *node, uint32_t arg) {
    const ember_value_t value = ember_node_scalar(node, arg);
    return value.kind == EMBER_DOUBLE ? value.as_double : (double)value.as_int;
}

int64_t ember_node_int_or(ember_node_t *node, uint32_t arg, int64_t when_none) {
    return ember_node_kind(node, arg) == EMBER_NONE ? when_none
                                                    : ember_node_int(node, arg);
}

int32_t ember_node_int_in(ember_node_t *node, uint32_t arg, int64_t low, int64_t high) {
    const int64_t value = ember_node_int(node, arg);
    if (value < low || value > high) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "call: an argument is out of range");
        return (int32_t)low;
    }
    return (int32_t)value;
}

uint32_t ember_node_dim(ember_node_t *node, uint32_t arg, uint32_t rank) {
    const int32_t count = rank > 0 ? (int32_t)rank : 1;
    const int32_t dim = ember_node_int_in(node, arg, -count, count - 1);
    return (uint32_t)(dim < 0 ? dim + count : dim);
}

const char *ember_node_string(ember_node_t *node, uint32_t arg, uint32_t *length) {
    ember_value_t value;
    get(node, arg, &value);
    if (value.kind != EMBER_STRING) {
        wrong_kind(node);
        *length = 0;
        return "";
    }
    *length = value.as_string.length;
    return value.as_string.text;
}

// --- lists -----------------------------------------------------------------------

// The list at `arg`, or an empty one; `item` must be in it.
static ember_value_t list_of(ember_node_t *node, uint32_t arg, uint32_t item) {
    ember_value_t value;
    get(node, arg, &value);
    if (value.kind < EMBER_INT_LIST || item >= value.as_list.count) {
        wrong_kind(node);
        value.kind = EMBER_NONE;
    }
    return value;
}

static const uint8_t *item_at(const ember_value_t *list, uint32_t stride,
                              uint32_t item) {
    return (const uint8_t *)list->as_list.items + stride * (size_t)item;
}

// Calls may share lists, so their items are paid for, that a load takes time linear in
// the program's size.
uint32_t ember_node_list_count(ember_node_t *node, uint32_t arg) {
    ember_value_t value;
    get(node, arg, &value);
    if (value.kind < EMBER_INT_LIST) {
        if (value.kind != EMBER_NONE) {
            wrong_kind(node);
        }
        return 0;
    }
    if (value.as_list.count > node->method->credit) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "call: its lists are too long");
        return 0;
    }
    node->method->credit -= value.as_list.count;
    return value.as_list.count;
}

int64_t ember_node_list_int(ember_node_t *node, uint32_t arg, uint32_t item) {
    const ember_value_t list = list_of(node, arg, item);
    if (list.kind != EMBER_INT_LIST) {
        wrong_kind(node);
        return 0;
    }
    ember_value_t value;
    ember_method_value(node->method, load_u32(item_at(&list, 8, item)), &value);
    return int_of(node, value);
}

double ember_node_list_double(ember_node_t *node, uint32_t arg, uint32_t item) {
    const ember_value_t list = list_of(node, arg, item);
    if (list.kind != EMBER_DOUBLE_LIST) {
        return (double)ember_node_list_int(node, arg, item);
    }
    const uint64_t bits = load_u64(item_at(&list, 8, item));
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

bool ember_node_list_bool(ember_node_t *node, uint32_t arg, uint32_t item) {
    const ember_value_t list = list_of(node, arg, item);
    if (list.kind != EMBER_BOOL_LIST) {
        wrong_kind(node);
        return false;
    }
    return *item_at(&list, 1, item) != 0;
}

// Value index of a tensor list's item, or UINT32_MAX for None.
static uint32_t list_index(ember_node_t *node, uint32_t arg, uint32_t item) {
    const ember_value_t list = list_of(node, arg, item);
    if (list.kind < EMBER_TENSOR_LIST) {
        wrong_kind(node);
        return UINT32_MAX;
    }
    return load_u32(item_at(&list, 4, item));
}

bool ember_node_list_tensor(ember_node_t *node, uint32_t arg, uint32_t item,
                            ember_tensor_t *tensor) {
    const uint32_t index = list_index(node, arg, item);
    ember_value_t value;
    if (index == UINT32_MAX) {
        memset(tensor, 0, sizeof(*tensor));
        return false;
    }
    ember_method_value(node->method, index, &value);
    if (value.kind == EMBER_NONE) {
        memset(tensor, 0, sizeof(*tensor));
        return false;
    }
    take_tensor(node, &value, tensor);
    return true;
}

uint32_t ember_node_ints(ember_node_t *node, uint32_t arg, int32_t *items,
                         uint32_t most) {
    const uint32_t count = ember_node_list_count(node, arg);
    if (count > most) {
        (void)ember_node_fail(node, EMBER_UNSUPPORTED, "call: a list is too long");
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const int64_t value = ember_node_list_int(node, arg, i);
        if (value != (int32_t)value) {
            (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                                  "call: a list item is out of range");
        }
        items[i] = (int32_t)value;
    }
    return count;
}

// --- outputs -----------------------------------------------------------------------

// A tensor that run writes. `sizes` NULL keeps its shape.
static void output(ember_node_t *node, uint32_t index, uint32_t rank,
                   const int32_t *sizes, ember_tensor_t *tensor) {
    ember_slot_t *slot;
    ember_value_t value;
    index = ember_method_resolve(node->method, index, &slot);
    if (sizes != NULL && node->status == EMBER_OK &&
        !ember_method_reshape(node->method, index, slot, rank, sizes)) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "call: its output has another shape or no room for it");
    }
    ember_method_value(node->method, index, &value);
    take_tensor(node, &value, tensor);
    if (tensor->constant) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "call: its output is a constant");
    }
}

static bool arg_index(ember_node_t *node, uint32_t arg, uint32_t *index) {
    if (arg >= vector_count(node->args)) {
        wrong_kind(node);
        return false;
    }
    *index = vector_u32(node->args, arg);
    return true;
}

static const int32_t no_sizes[1] = {0}; // a shape of rank 0 is still a shape

void ember_node_output(ember_node_t *node, uint32_t arg, uint32_t rank,
                       const int32_t *sizes, ember_tensor_t *tensor) {
    uint32_t index;
    memset(tensor, 0, sizeof(*tensor));
    if (arg_index(node, arg, &index)) {
        output(node, index, rank, rank > 0 ? sizes : no_sizes, tensor);
    }
}

void ember_node_output_like(ember_node_t *node, uint32_t arg,
                            const ember_tensor_t *like, ember_tensor_t *tensor) {
    ember_node_output(node, arg, like->rank, like->sizes, tensor);
}

void ember_node_inout(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor) {
    uint32_t index;
    memset(tensor, 0, sizeof(*tensor));
    if (arg_index(node, arg, &index)) {
        output(node, index, 0, NULL, tensor);
    }
}

void ember_node_list_output(ember_node_t *node, uint32_t arg, uint32_t item,
                            uint32_t rank, const int32_t *sizes,
                            ember_tensor_t *tensor) {
    const uint32_t index = list_index(node, arg, item);
    memset(tensor, 0, sizeof(*tensor));
    if (index == UINT32_MAX) {
        wrong_kind(node);
        return;
    }
    output(node, index, rank, rank > 0 ? sizes : no_sizes, tensor);
}

ember_slot_t *ember_node_slot(ember_node_t *node, uint32_t arg) {
    ember_slot_t *slot = NULL;
    uint32_t index;
    if (arg_index(node, arg, &index)) {
        slot = ember_method_slot(node->method, index);
    }
    if (slot == NULL) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "call: a result is a value that can't change");
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
        wrong_kind(node);
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
    ember_value_t view;
    const bool fits =
        ember_method_reshape(node->method, slot->index, slot, rank, sizes);
    ember_method_value(node->method, slot->index, &view);
    if (!fits || ember_tensor_bytes(&view.as_tensor) > slot->tensor.capacity ||
        ((uintptr_t)base->data & (view.as_tensor.element_size - 1u)) != 0) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "view: its shape does not fit");
        slot->tensor.data = NULL;
        ember_slot_touch(slot);
    }
}

void *ember_node_scratch(ember_node_t *node, size_t bytes) {
    ember_method_t *method = node->method;
    if (bytes > method->temp_used) {
        method->temp_used = bytes;
    }
    if (bytes > method->temp.size) {
        (void)ember_node_fail(node, EMBER_NO_MEMORY,
                              "call: the temp arena is too small for its scratch");
        return NULL;
    }
    return method->temp.data;
}

ember_status_t ember_node_prepare(ember_node_t *node, const ember_operator_t *operation,
                                  void *state, const ember_kernel_t **chosen) {
    const ember_kernel_t *const *candidate = operation->candidates;
    for (; *candidate != NULL; candidate++) {
        node->status = EMBER_OK;
        node->unbound = false;
        const ember_status_t status = (*candidate)->prepare(node, state);
        // A kernel that forgets a sticky failure must not turn it into success.
        if (status == EMBER_OK && node->status == EMBER_OK) {
            *chosen = *candidate;
            return EMBER_OK;
        }
        if (status != EMBER_OK && status != EMBER_UNSUPPORTED) {
            return node->status != EMBER_OK ? node->status : status;
        }
        if (node->status != EMBER_OK && node->status != EMBER_UNSUPPORTED) {
            return node->status;
        }
    }
    return EMBER_UNSUPPORTED;
}
