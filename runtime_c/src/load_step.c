// SPDX-License-Identifier: Apache-2.0
// From an instruction to a step { run, state }.
#include "method_state.h"

enum { STATE_ALIGN = 8 };

static void *new_state(ember_method_t *method, size_t size) {
    void *state = ember_arena_alloc(&method->arena, size, STATE_ALIGN);
    if (state == NULL) {
        (void)fail(method, EMBER_NO_MEMORY, "method: its arena is too small");
    }
    return state;
}

const uint8_t *ember_method_instruction(const ember_method_t *method, uint32_t index,
                                        uint32_t *tag) {
    return ember_plan_union(vector_table(method->instructions, index), tag);
}

// --- kernel calls ----------------------------------------------------------------

// Adds the slot of value `index`, if it has one, to `slots` (NULL: only counts).
static uint32_t add_slot(const ember_method_t *method, uint32_t index,
                         ember_slot_t **slots, uint32_t count) {
    ember_slot_t *slot = ember_method_slot(method, index);
    if (slot == NULL) {
        return count;
    }
    slot->read = true;
    if (slots != NULL) {
        slots[count] = slot;
    }
    return count + 1;
}

// Slots that the arguments depend on, items of lists included. Calls may share lists,
// so their items are paid for: a load takes time linear in the program's size.
static uint32_t find_slots(ember_method_t *method, ember_vector_t args,
                           ember_slot_t **slots) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < vector_count(args); i++) {
        const uint32_t index = vector_u32(args, i);
        ember_kind_t kind;
        const uint8_t *body = ember_plan_value(method->values, index, &kind);
        count = add_slot(method, index, slots, count);
        if (kind != EMBER_INT_LIST && kind < EMBER_TENSOR_LIST) {
            continue;
        }
        const ember_vector_t items = ember_flat_vector(body, BODY_ITEM);
        const uint32_t length = vector_count(items);
        if (length > method->credit) {
            return UINT32_MAX;
        }
        method->credit -= length;
        const uint32_t stride = kind == EMBER_INT_LIST ? 8 : 4;
        for (uint32_t k = 0; k < length; k++) {
            const uint32_t item = load_u32(vector_items(items) + stride * (size_t)k);
            if (item != UINT32_MAX) {
                count = add_slot(method, item, slots, count);
            }
        }
    }
    return count;
}

static size_t largest_state(const ember_operator_t *operation) {
    size_t largest = 0;
    const ember_kernel_t *const *candidate = operation->candidates;
    for (; *candidate != NULL; candidate++) {
        if ((*candidate)->state_size > largest) {
            largest = (*candidate)->state_size;
        }
    }
    return largest;
}

// A node whose arguments can never change.
static ember_status_t load_fixed(ember_method_t *method, ember_node_t *node,
                                 const ember_operator_t *operation,
                                 ember_step_t *step) {
    const ember_kernel_t *chosen;
    step->state = new_state(method, largest_state(operation));
    if (step->state == NULL) {
        return EMBER_NO_MEMORY;
    }
    const ember_status_t status =
        ember_node_prepare(node, operation, step->state, &chosen);
    if (status != EMBER_OK) {
        return status;
    }
    if (node->unbound) {
        return fail(method, EMBER_BAD_PROGRAM, "call: a tensor has no memory");
    }
    method->arena.used =
        (size_t)((uint8_t *)step->state - method->arena.data) + chosen->state_size;
    step->run = chosen->run;
    return EMBER_OK;
}

// A node that is prepared again when its arguments change. It is prepared now, with
// bounds for shapes, to find unsupported dtypes and the need of scratch; other
// failures may be due to values that are not there yet.
static ember_status_t load_volatile(ember_method_t *method, ember_node_t *node,
                                    const ember_operator_t *operation, uint32_t index,
                                    uint32_t slot_count) {
    const ember_kernel_t *chosen;
    ember_volatile_t *state = new_state(method, sizeof(*state));
    ember_slot_t **slots = new_state(method, slot_count * sizeof(ember_slot_t *));
    void *inner = new_state(method, largest_state(operation));
    if (state == NULL || slots == NULL || inner == NULL) {
        return EMBER_NO_MEMORY;
    }
    if (find_slots(method, node->args, slots) != slot_count) {
        return fail(method, EMBER_BAD_PROGRAM, "call: its lists are too long");
    }
    *state = (ember_volatile_t){
        .method = method,
        .operation = operation,
        .state = inner,
        .slots = slots,
        .slot_count = slot_count,
        .instruction = index,
    };
    method->steps[index] = (ember_step_t){ember_run_volatile, state};
    const ember_status_t status = ember_node_prepare(node, operation, inner, &chosen);
    return status == EMBER_UNSUPPORTED || status == EMBER_NO_MEMORY ? status : EMBER_OK;
}

static ember_status_t load_kernel(ember_method_t *method, const uint8_t *call,
                                  uint32_t index) {
    const ember_operator_t *operation =
        method->operators[ember_flat_u32(call, CALL_INDEX)];
    ember_node_t node = {.method = method,
                         .args = ember_flat_vector(call, CALL_ARGS),
                         .instruction = index};
    if (operation == NULL) {
        return fail(method, EMBER_UNSUPPORTED, "call: this build lacks its operator");
    }
    const uint32_t count = vector_count(node.args);
    if (count < operation->min_args || count > operation->max_args) {
        return fail(method, EMBER_BAD_PROGRAM, "call: wrong number of arguments");
    }
    const uint32_t slots =
        method->slot_count > 0 ? find_slots(method, node.args, NULL) : 0;
    if (slots == UINT32_MAX) {
        return fail(method, EMBER_BAD_PROGRAM, "call: its lists are too long");
    }
    return slots > 0 ? load_volatile(method, &node, operation, index, slots)
                     : load_fixed(method, &node, operation, &method->steps[index]);
}

// --- the other instructions --------------------------------------------------------

typedef struct move_state {
    ember_method_t *method;
    uint32_t from;
    ember_slot_t *to;
} move_state_t;

// Copies a tensor's data when `to` has planned memory of its own: a plan may give the
// memory of `from` to somebody else while `to` still lives. False when `to` has none,
// or lies there in another way.
static bool copy_tensor(const move_state_t *move, const ember_tensor_t *from) {
    ember_slot_t *slot = move->to;
    ember_kind_t kind;
    ember_plan_tensor_t to;
    const uint8_t *body = ember_plan_value(move->method->values, slot->index, &kind);
    if (kind != EMBER_TENSOR || slot->kind != EMBER_TENSOR || slot->constant ||
        from->data == NULL) {
        return false;
    }
    (void)ember_plan_tensor(body, &to);
    if (to.allocation == NULL || to.tensor.dtype != from->dtype ||
        to.rank != from->rank ||
        memcmp(to.tensor.dim_order, from->dim_order, to.rank) != 0 ||
        !ember_method_reshape(move->method, slot->index, slot, from->rank,
                              from->sizes)) {
        return false;
    }
    const size_t bytes = ember_tensor_bytes(from);
    const uintptr_t apart = (uintptr_t)slot->tensor.data - (uintptr_t)from->data;
    if (apart < bytes || -apart < bytes) {
        return apart == 0; // it is there already, or half: then the handle will do
    }
    memcpy(slot->tensor.data, from->data, bytes);
    return true;
}

// Scalars and planned tensors are copied. Anything else has its handle copied: `to`
// stands for `from` from now on.
static int32_t run_move(void *state) {
    const move_state_t *move = state;
    ember_slot_t *slot;
    ember_value_t value;
    int32_t source = (int32_t)ember_method_resolve(move->method, move->from, &slot);
    ember_method_value(move->method, move->from, &value);
    if (value.kind == EMBER_BOOL) {
        ember_slot_set_bool(move->to, value.as_bool);
    } else if (value.kind == EMBER_INT) {
        ember_slot_set_int(move->to, value.as_int);
    } else if (value.kind == EMBER_DOUBLE) {
        ember_slot_set_double(move->to, value.as_double);
    } else {
        // What stands for `to` already gives it back to itself.
        if (source == (int32_t)move->to->index ||
            (value.kind == EMBER_TENSOR && copy_tensor(move, &value.as_tensor))) {
            source = NO_SOURCE;
        }
        if (move->to->source != source) {
            move->to->source = source;
            ember_slot_touch(move->to);
        }
    }
    return EMBER_OK;
}

typedef struct jump_state {
    ember_method_t *method;
    uint32_t condition;
    int32_t target; // instruction + 1
} jump_state_t;

static bool all_true(const ember_tensor_t *tensor) {
    const uint8_t *data = tensor->data;
    for (uint32_t i = 0; i < tensor->numel; i++) {
        if (data[i] == 0) {
            return false;
        }
    }
    return true;
}

static int32_t run_jump(void *state) {
    const jump_state_t *jump = state;
    ember_value_t value;
    ember_method_value(jump->method, jump->condition, &value);
    bool condition;
    if (value.kind == EMBER_BOOL) {
        condition = value.as_bool;
    } else if (value.kind == EMBER_TENSOR && value.as_tensor.dtype == EMBER_B1 &&
               (value.as_tensor.data != NULL || value.as_tensor.numel == 0)) {
        condition = all_true(&value.as_tensor);
    } else {
        return fail(jump->method, EMBER_BAD_PROGRAM,
                    "jump: its condition is not a bool");
    }
    return condition ? EMBER_OK : jump->target;
}

static int32_t run_nothing(void *state) {
    (void)state;
    return EMBER_OK;
}

static ember_status_t load_move(ember_method_t *method, const uint8_t *body,
                                ember_step_t *step) {
    move_state_t *state = new_state(method, sizeof(*state));
    if (state == NULL) {
        return EMBER_NO_MEMORY;
    }
    (void)add_slot(method, ember_flat_u32(body, MOVE_FROM), NULL, 0);
    *state = (move_state_t){method, ember_flat_u32(body, MOVE_FROM),
                            ember_method_slot(method, ember_flat_u32(body, MOVE_TO))};
    *step = (ember_step_t){run_move, state};
    return EMBER_OK;
}

static ember_status_t load_jump(ember_method_t *method, const uint8_t *body,
                                ember_step_t *step) {
    jump_state_t *state = new_state(method, sizeof(*state));
    if (state == NULL) {
        return EMBER_NO_MEMORY;
    }
    (void)add_slot(method, ember_flat_u32(body, JUMP_CONDITION), NULL, 0);
    *state = (jump_state_t){method, ember_flat_u32(body, JUMP_CONDITION),
                            (int32_t)ember_flat_u32(body, JUMP_TARGET) + 1};
    *step = (ember_step_t){run_jump, state};
    return EMBER_OK;
}

ember_status_t ember_method_load_step(ember_method_t *method, uint32_t index) {
    ember_step_t *step = &method->steps[index];
    uint32_t tag;
    const uint8_t *body = ember_method_instruction(method, index, &tag);
    switch (tag) {
    case CALL_KERNEL:
        return load_kernel(method, body, index);
    case CALL_DELEGATE:
        (void)find_slots(method, ember_flat_vector(body, CALL_ARGS), NULL);
        return ember_method_load_delegate(method, body, step);
    case CALL_MOVE:
        return load_move(method, body, step);
    case CALL_JUMP_FALSE:
        return load_jump(method, body, step);
    default: // FreeCall: planned memory is not given back
        *step = (ember_step_t){run_nothing, NULL};
        return EMBER_OK;
    }
}
