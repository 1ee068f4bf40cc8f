// SPDX-License-Identifier: Apache-2.0
// What kernels ask of a call while they are prepared.
#include "method_state.h"

#if EMBER_ERROR_STRINGS
ember_status_t ember_node_note(ember_node_t *node, ember_status_t status,
                               const char *message) {
    const ember_flat_t *flat = &node->method->flat;
    if (node->status == EMBER_OK && flat->status != EMBER_OK) {
        node->status = flat->status; // the cause, whose sentence is noted
    }
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

EMBER_INLINE void get(const ember_node_t *node, uint32_t arg, ember_value_t *value) {
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

// Hands out a tensor; one without memory makes the node unbound.
EMBER_INLINE void take_tensor(ember_node_t *node, uint32_t index,
                              ember_tensor_t *tensor) {
    if (index == NO_VALUE || !ember_method_tensor(node->method, index, tensor)) {
        memset(tensor, 0, sizeof(*tensor));
        wrong_kind(node);
    } else if (tensor->data == NULL && tensor->numel != 0) {
        node->unbound = true;
        if (node->strict) {
            (void)ember_node_fail(node, EMBER_BAD_ARGUMENT,
                                  "call: a tensor has no memory");
        }
    }
}

EMBER_INLINE uint32_t index_of(const ember_node_t *node, uint32_t arg) {
    return arg < vector_count(node->args) ? vector_u32(node->args, arg) : NO_VALUE;
}

void ember_node_tensor(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor) {
    take_tensor(node, index_of(node, arg), tensor);
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

// Makes a Scalar of what a kernel asked as one.
static void to_scalar(ember_node_t *node, ember_value_t *value) {
    if (value->kind == EMBER_BOOL) {
        value->as_int = value->as_bool ? 1 : 0;
    } else if (value->kind != EMBER_INT && value->kind != EMBER_DOUBLE) {
        wrong_kind(node);
        value->kind = EMBER_INT;
        value->as_int = 0;
    }
}

ember_value_t ember_node_scalar(ember_node_t *node, uint32_t arg) {
    ember_value_t value;
    get(node, arg, &value);
    to_scalar(node, &value);
    return value;
}

static int64_t to_int(ember_node_t *node, ember_value_t *value) {
    to_scalar(node, value);
    if (value->kind == EMBER_DOUBLE) {
        wrong_kind(node);
        return 0;
    }
    return value->as_int;
}

int64_t ember_node_int(ember_node_t *node, uint32_t arg) {
    ember_value_t value;
    get(node, arg, &value);
    return to_int(node, &value);
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
    const uint64_t index = load_u64(item_at(&list, 8, item));
    ember_value_t value;
    ember_method_value(node->method, index < UINT32_MAX ? (uint32_t)index : UINT32_MAX,
                       &value);
    return to_int(node, &value);
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

// Value index of a tensor list's item, or NO_VALUE for None.
static uint32_t list_index(ember_node_t *node, uint32_t arg, uint32_t item) {
    const ember_value_t list = list_of(node, arg, item);
    const uint32_t index =
        list.kind < EMBER_TENSOR_LIST ? NO_VALUE : load_u32(item_at(&list, 4, item));
    if (index == NO_VALUE && list.kind != EMBER_OPTIONAL_TENSOR_LIST) {
        wrong_kind(node);
    }
    return index;
}

bool ember_node_list_tensor(ember_node_t *node, uint32_t arg, uint32_t item,
                            ember_tensor_t *tensor) {
    const uint32_t index = list_index(node, arg, item);
    if (index == NO_VALUE || ember_method_kind(node->method, index) == EMBER_NONE) {
        memset(tensor, 0, sizeof(*tensor));
        return false;
    }
    take_tensor(node, index, tensor);
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

enum { KEEP_SHAPE = EMBER_MAX_RANK + 1 }; // as a rank

static void output(ember_node_t *node, uint32_t index, uint32_t rank,
                   const int32_t *sizes, ember_tensor_t *tensor) {
    ember_slot_t *slot;
    const uint32_t source = ember_method_resolve(node->method, index, &slot);
    const bool fits =
        slot == NULL || rank == KEEP_SHAPE || node->status != EMBER_OK ||
        node->method->parts->reshape(node->method, source, slot, rank, sizes);
    take_tensor(node, index, tensor);
    if (!fits || (rank != KEEP_SHAPE && !ember_tensor_has_shape(tensor, rank, sizes))) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "call: its output has another shape or no room for it");
    }
    if (tensor->constant) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "call: its output is a constant");
    }
}

void ember_node_output(ember_node_t *node, uint32_t arg, uint32_t rank,
                       const int32_t *sizes, ember_tensor_t *tensor) {
    output(node, index_of(node, arg), rank, sizes, tensor);
}

void ember_node_output_like(ember_node_t *node, uint32_t arg,
                            const ember_tensor_t *like, ember_tensor_t *tensor) {
    output(node, index_of(node, arg), like->rank, like->sizes, tensor);
}

void ember_node_inout(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor) {
    output(node, index_of(node, arg), KEEP_SHAPE, NULL, tensor);
}

void ember_node_list_output(ember_node_t *node, uint32_t arg, uint32_t item,
                            uint32_t rank, const int32_t *sizes,
                            ember_tensor_t *tensor) {
    output(node, list_index(node, arg, item), rank, sizes, tensor);
}

ember_slot_t *ember_node_slot(ember_node_t *node, uint32_t arg) {
    ember_slot_t *slot = ember_method_slot(node->method, index_of(node, arg));
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
    ember_tensor_t view;
    if (!ember_method_reshape(node->method, slot->index, slot, rank, sizes) ||
        !ember_method_tensor(node->method, slot->index, &view) ||
        ember_tensor_bytes(&view) > slot->tensor.capacity ||
        ((uintptr_t)base->data & (view.element_size - 1u)) != 0) {
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

// A kernel that forgets a failure must not turn it into success: neither one of its
// node nor one of reading the program.
static ember_status_t try_kernel(ember_node_t *node, void *state) {
    node->status = EMBER_OK;
    node->unbound = false;
    const ember_status_t status = node->kernel->prepare(node, state);
    if (node->method->flat.status != EMBER_OK) {
        return node->method->flat.status;
    }
    return node->status != EMBER_OK ? node->status : status;
}

ember_status_t ember_node_prepare(ember_node_t *node, const ember_operator_t *operation,
                                  void **state) {
    ember_arena_t *arena = &node->method->arena;
    const size_t used = arena->used;
    const bool fixed = *state == NULL;
    const ember_kernel_t *const *candidate = operation->candidates;
    for (; *candidate != NULL; candidate++) {
        node->kernel = *candidate;
        if (fixed) {
            arena->used = used;
            *state = ember_method_state(node->method, node->kernel->state_size);
            if (*state == NULL) {
                return EMBER_NO_MEMORY;
            }
        }
        const ember_status_t status = try_kernel(node, *state);
        if (status != EMBER_UNSUPPORTED) {
            return status;
        }
    }
    return EMBER_UNSUPPORTED;
}
