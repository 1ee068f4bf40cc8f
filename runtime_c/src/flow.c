// SPDX-License-Identifier: Apache-2.0
// Moves and jumps, and the parts of the runtime for methods in which something changes.
#include "method_state.h"

typedef struct move_state {
    ember_method_t *method;
    uint32_t from;
    ember_slot_t *to;
} move_state_t;

// Copies a tensor's data if `to` has planned memory of its own: a plan may reuse the
// memory of `from` while `to` is still alive. False if `to` has none, or partly
// overlaps `from`.
static bool copy_tensor(const move_state_t *move, const ember_tensor_t *from) {
    ember_slot_t *slot = move->to;
    ember_value_t value;
    ember_plan_tensor_t to;
    const uint8_t *body = ember_method_body(move->method, slot->index, &value);
    // unreached: a loaded method has no malformed tensors
    if (value.kind != EMBER_TENSOR || slot->kind != EMBER_TENSOR || slot->constant ||
        from->data == NULL || !ember_plan_tensor(&move->method->flat, body, &to)) {
        return false;
    }
    if (to.allocation == NULL || to.tensor.dtype != from->dtype ||
        to.tensor.rank != from->rank || !ember_tensor_same_order(from, &to.tensor) ||
        !ember_method_reshape(move->method, slot->index, slot, from->rank,
                              from->sizes)) {
        return false;
    }
    const size_t bytes = ember_tensor_bytes(from);
    const uintptr_t apart = (uintptr_t)slot->tensor.data - (uintptr_t)from->data;
    if (apart < bytes || -apart < bytes) {
        return apart == 0; // same place, or overlap: sharing the handle will do
    }
    if (bytes > 0) { // without elements, `to` may lie nowhere
        memcpy(slot->tensor.data, from->data, bytes);
    }
    return true;
}

// Scalars and planned tensors are copied. For anything else the handle is: `to` now
// stands for `from`.
static int32_t run_move(void *state) {
    const move_state_t *move = state;
    ember_slot_t *slot;
    ember_value_t value;
    int32_t source = (int32_t)ember_method_resolve(move->method, move->from, &slot);
    ember_method_value(move->method, move->from, &value);
    if (is_scalar(value.kind)) {
        ember_slot_store(move->to, value.kind, value.as_int);
    } else {
        // `to` stands for itself again if `from` stands for it.
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
    uint32_t instruction;
    int32_t target; // instruction + 1
} jump_state_t;

// Steps of everything before an instruction; the end counts as an instruction.
static uint64_t work_before(const ember_method_t *method, uint32_t instruction) {
    return instruction < method->meta.instruction_count
               ? method->work_before[instruction]
               : method->work;
}

bool ember_method_charge(ember_method_t *method, uint64_t steps) {
    if (steps > method->left) {
        return false;
    }
    method->left -= steps;
    return true;
}

// Everything up to the end was charged. A forward jump refunds what it skips, a
// backward jump pays for what is repeated.
static int32_t jump_to(const jump_state_t *jump) {
    ember_method_t *method = jump->method;
    const uint64_t here = work_before(method, jump->instruction + 1);
    const uint64_t there = work_before(method, (uint32_t)jump->target - 1);
    if (there > here) {
        method->left += there - here;
        return jump->target;
    }
    return ember_method_charge(method, here - there) ? jump->target : EMBER_BUDGET;
}

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
    return condition ? EMBER_OK : jump_to(jump);
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
        return ember_method_bad_index(method);
    }
    ember_method_read(method, from);
    *state = (move_state_t){method, from, to};
    *step = (ember_step_t){run_move, state};
    return EMBER_OK;
}

static ember_status_t load_jump(ember_method_t *method, const ember_field_t *fields,
                                uint32_t index) {
    const uint32_t condition = fields[JUMP_CONDITION].number;
    const uint32_t target = fields[JUMP_TARGET].number;
    ember_value_t value;
    jump_state_t *state = ember_method_state(method, sizeof(*state));
    if (state == NULL) {
        return EMBER_NO_MEMORY;
    }
    if (target > method->meta.instruction_count) {
        return ember_method_bad_index(method);
    }
    ember_method_value(method, condition, &value);
    ember_method_read(method, condition);
    *state = (jump_state_t){method, condition, index, (int32_t)target + 1};
    method->steps[index] = (ember_step_t){run_jump, state};
    return EMBER_OK;
}

static ember_status_t load_other(ember_method_t *method, uint32_t index) {
    ember_step_t *step = &method->steps[index];
    ember_field_t fields[2];
    switch (ember_method_instruction(method, index, fields)) {
    case CALL_DELEGATE:
        return ember_method_load_delegate(method, fields, step);
    case CALL_MOVE:
        return load_move(method, fields, step);
    case CALL_JUMP_FALSE:
        return load_jump(method, fields, index);
    case CALL_FREE: // planned memory is not freed
        *step = (ember_step_t){run_nothing, NULL};
        return fields[FREE_VALUE].number < method->meta.value_count
                   ? EMBER_OK
                   : ember_method_bad_index(method);
    default:
        return fail(method, EMBER_BAD_PROGRAM, "instruction: unknown kind");
    }
}

const ember_changing_t ember_changing = {
    .load_values = ember_method_load_values,
    .load_call = ember_volatile_load,
    .load_other = load_other,
    .source = ember_slot_source,
    .tensor = ember_slot_tensor,
    .reshape = ember_method_reshape,
    .unload = ember_method_unload,
};
