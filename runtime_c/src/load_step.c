// SPDX-License-Identifier: Apache-2.0
// From an instruction to a step { run, state }.
#include "method_state.h"

enum { STATE_ALIGN = 8 };

ember_status_t ember_method_no_memory(ember_method_t *method) {
    return fail(method, EMBER_NO_MEMORY, "method: its arena is too small");
}

void *ember_method_state(ember_method_t *method, size_t size) {
    void *state = ember_arena_alloc(&method->arena, size, STATE_ALIGN);
    if (state == NULL) {
        (void)ember_method_no_memory(method);
    }
    return state;
}

uint32_t ember_method_instruction(ember_method_t *method, uint32_t index,
                                  ember_field_t *fields) {
    ember_flat_t *flat = &method->flat;
    uint32_t tag;
    const uint8_t *body =
        ember_flat_union(flat, method->meta.instructions, index, &tag);
    if (tag <= CALL_DELEGATE) {
        const uint16_t *at =
            ember_flat_layout(flat, body, CALL_FIELDS, flat->layouts[LAYOUT_CALL]);
        fields[CALL_INDEX].number = flat_u32(body, at[CALL_INDEX]);
        fields[CALL_ARGS].at = ember_flat_vector(flat, body, at[CALL_ARGS], FLAT_VEC4);
    } else {
        ember_flat_read(flat, body, tag < CALL_FREE ? MOVE_FIELDS : FREE_FIELDS,
                        fields);
    }
    return tag;
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

// Calls may share lists, so their items are paid for: a load takes time linear in the
// program's size.
static bool spend(ember_method_t *method, uint32_t items) {
    if (items > method->credit) {
        return false;
    }
    method->credit -= items;
    return true;
}

// Slots that the arguments depend on, items of lists included; UINT32_MAX when they are
// too many.
static uint32_t find_slots(ember_method_t *method, ember_vector_t args,
                           ember_slot_t **slots) {
    uint32_t count = 0;
    if (!spend(method, vector_count(args))) {
        return UINT32_MAX;
    }
    for (uint32_t i = 0; i < vector_count(args); i++) {
        const uint32_t index = vector_u32(args, i);
        uint32_t kind;
        const uint8_t *body = ember_method_body(method, index, &kind);
        count = add_slot(method, index, slots, count);
        if (kind != EMBER_INT_LIST && kind < EMBER_TENSOR_LIST) {
            continue;
        }
        ember_value_t list = {.kind = (ember_kind_t)kind};
        ember_plan_scalar(&method->flat, body, &list);
        if (!spend(method, list.as_list.count)) {
            return UINT32_MAX;
        }
        const uint32_t stride = list.kind == EMBER_INT_LIST ? 8 : 4;
        const uint8_t *items = list.as_list.items;
        for (uint32_t k = 0; k < list.as_list.count; k++, items += stride) {
            count = add_slot(method, load_u32(items), slots, count);
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
static ember_status_t load_fixed(ember_node_t *node, const ember_operator_t *operation,
                                 ember_step_t *step) {
    step->state = NULL;
    const ember_status_t status = ember_node_prepare(node, operation, &step->state);
    if (status == EMBER_OK && node->unbound) {
        return fail(node->method, EMBER_BAD_PROGRAM, "call: a tensor has no memory");
    }
    step->run = node->kernel->run;
    return status;
}

// A node that is prepared again when its arguments change. It is prepared now, with
// bounds for shapes, to find unsupported dtypes and the need of scratch; other
// failures may be due to values that are not there yet.
static ember_status_t load_volatile(ember_method_t *method, ember_node_t *node,
                                    const ember_operator_t *operation,
                                    uint32_t slot_count) {
    ember_volatile_t *state = ember_method_state(method, sizeof(*state));
    ember_slot_t **slots =
        ember_method_state(method, slot_count * sizeof(ember_slot_t *));
    void *inner = ember_method_state(method, largest_state(operation));
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
        .instruction = node->instruction,
    };
    method->steps[node->instruction] = (ember_step_t){ember_run_volatile, state};
    const ember_status_t status = ember_node_prepare(node, operation, &inner);
    return status == EMBER_UNSUPPORTED || status == EMBER_NO_MEMORY ? status : EMBER_OK;
}

static ember_status_t bad_index(ember_method_t *method) {
    return fail(method, EMBER_BAD_PROGRAM, "instruction: an index is out of range");
}

static ember_status_t load_kernel(ember_method_t *method, const ember_field_t *call,
                                  uint32_t index) {
    if (call[CALL_INDEX].number >= vector_count(method->meta.plan[PLAN_OPERATORS].at)) {
        return bad_index(method);
    }
    const ember_operator_t *operation = method->operators[call[CALL_INDEX].number];
    ember_node_t node = {
        .method = method, .args = call[CALL_ARGS].at, .instruction = index};
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
    if (slots > 0) {
        return load_volatile(method, &node, operation, slots);
    }
    return load_fixed(&node, operation, &method->steps[index]);
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
    uint32_t kind;
    ember_plan_tensor_t to;
    const uint8_t *body = ember_method_body(move->method, slot->index, &kind);
    if (kind != EMBER_TENSOR || slot->kind != EMBER_TENSOR || slot->constant ||
        from->data == NULL || !ember_plan_tensor(&move->method->flat, body, &to)) {
        return false;
    }
    if (to.allocation == NULL || to.tensor.dtype != from->dtype ||
        to.tensor.rank != from->rank ||
        memcmp(to.tensor.dim_order, from->dim_order, from->rank) != 0 ||
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

static ember_status_t load_move(ember_method_t *method, const ember_field_t *fields,
                                ember_step_t *step) {
    const uint32_t from = fields[MOVE_FROM].number;
    ember_slot_t *to = ember_method_slot(method, fields[MOVE_TO].number);
    move_state_t *state = ember_method_state(method, sizeof(*state));
    if (state == NULL) {
        return EMBER_NO_MEMORY;
    }
    if (from >= method->meta.value_count || to == NULL) {
        return bad_index(method); // or nothing is thought to change
    }
    (void)add_slot(method, from, NULL, 0);
    *state = (move_state_t){method, from, to};
    *step = (ember_step_t){run_move, state};
    return EMBER_OK;
}

static ember_status_t load_jump(ember_method_t *method, const ember_field_t *fields,
                                ember_step_t *step) {
    const uint32_t condition = fields[JUMP_CONDITION].number;
    const uint32_t target = fields[JUMP_TARGET].number;
    ember_value_t value;
    jump_state_t *state = ember_method_state(method, sizeof(*state));
    if (state == NULL) {
        return EMBER_NO_MEMORY;
    }
    if (target > method->meta.instruction_count) {
        return bad_index(method);
    }
    ember_method_value(method, condition, &value);
    (void)add_slot(method, condition, NULL, 0);
    *state = (jump_state_t){method, condition, (int32_t)target + 1};
    *step = (ember_step_t){run_jump, state};
    return EMBER_OK;
}

ember_status_t ember_method_load_step(ember_method_t *method, uint32_t index) {
    ember_step_t *step = &method->steps[index];
    ember_field_t fields[2];
    switch (ember_method_instruction(method, index, fields)) {
    case CALL_KERNEL:
        return load_kernel(method, fields, index);
    case CALL_DELEGATE:
        (void)find_slots(method, fields[CALL_ARGS].at, NULL);
        return ember_method_load_delegate(method, fields, step);
    case CALL_MOVE:
        return load_move(method, fields, step);
    case CALL_JUMP_FALSE:
        return load_jump(method, fields, step);
    case CALL_FREE: // planned memory is not given back
        *step = (ember_step_t){run_nothing, NULL};
        return fields[FREE_VALUE].number < method->meta.value_count ? EMBER_OK
                                                                    : bad_index(method);
    default:
        return fail(method, EMBER_BAD_PROGRAM, "instruction: of no known kind");
    }
}
