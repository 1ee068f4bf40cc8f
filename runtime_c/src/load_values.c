// SPDX-License-Identifier: Apache-2.0
// Finds the values that can change, and sets up slots.
#include "method_state.h"

static bool is_marked(const ember_method_t *method, uint32_t index) {
    return (method->changing[index / 32] >> (index % 32) & 1) != 0;
}

static void mark(ember_method_t *method, uint32_t index) {
    if (index < method->meta.value_count && !is_marked(method, index)) {
        method->changing[index / 32] |= 1u << (index % 32);
        method->slot_count++;
    }
}

// Tensors of dynamic shape, and those that get their memory later.
static void mark_tensor(ember_method_t *method, uint32_t index, const uint8_t *table) {
    ember_plan_tensor_t plan;
    if (!ember_method_place(method, table, &plan)) {
        return;
    }
    const bool planned = plan.allocation != NULL;
    const bool has_data = ember_plan_has_data(&plan);
    if (plan.dynamic || (!planned && !has_data)) {
        mark(method, index);
    }
    if (planned && has_data) {
        ember_method_set_state(method, &plan);
    }
}

// Reads all values, so that those that execute reads later cannot be malformed.
static void mark_values(ember_method_t *method) {
    for (uint32_t i = 0; i < method->meta.value_count; i++) {
        ember_value_t value;
        const uint8_t *body = ember_method_body(method, i, &value);
        if (value.kind == EMBER_TENSOR) {
            mark_tensor(method, i, body);
        }
    }
}

static void mark_inputs(ember_method_t *method) {
    const ember_vector_t inputs = method->meta.plan[PLAN_INPUTS].at;
    for (uint32_t i = 0; i < vector_count(inputs); i++) {
        ember_value_t value;
        (void)ember_method_body(method, vector_u32(inputs, i), &value);
        if (is_scalar(value.kind)) {
            mark(method, vector_u32(inputs, i));
        }
    }
}

// A call's last argument is its result: the call writes it if it is a scalar, and if it
// is a tensor the operator may point it at other memory.
static void mark_result(ember_method_t *method, const ember_field_t *call) {
    const ember_vector_t args = call[CALL_ARGS].at;
    const uint32_t count = vector_count(args);
    const uint32_t operators = vector_count(method->meta.plan[PLAN_OPERATORS].at);
    if (count == 0 || call[CALL_INDEX].number >= operators) {
        return;
    }
    const ember_operator_t *operation = method->operators[call[CALL_INDEX].number];
    const uint32_t last = vector_u32(args, count - 1);
    ember_value_t value;
    (void)ember_method_body(method, last, &value);
    if (is_scalar(value.kind) || (value.kind == EMBER_TENSOR && operation != NULL &&
                                  (operation->flags & EMBER_OP_BINDS_OUTPUT) != 0)) {
        mark(method, last);
    }
}

static void mark_instructions(ember_method_t *method) {
    ember_field_t fields[2];
    for (uint32_t i = 0; i < method->meta.instruction_count; i++) {
        const uint32_t tag = ember_method_instruction(method, i, fields);
        if (tag == CALL_KERNEL) {
            mark_result(method, fields);
        } else if (tag == CALL_MOVE) {
            mark(method, fields[MOVE_TO].number);
        }
    }
}

// Memory and initial shape of a changing tensor.
static bool fill_tensor(ember_method_t *method, ember_slot_t *slot,
                        const uint8_t *table) {
    ember_plan_tensor_t plan;
    const ember_tensor_t *tensor = &plan.tensor;
    if (!ember_method_place(method, table, &plan)) {
        return true; // recorded in method->flat
    }
    slot->constant = tensor->constant;
    slot->tensor.data = tensor->data;
    slot->tensor.capacity = (uint32_t)ember_tensor_bytes(tensor);
    if (!plan.dynamic || tensor->rank == 0) {
        return true;
    }
    slot->tensor.sizes = ember_arena_array(&method->arena, tensor->rank,
                                           sizeof(int32_t), sizeof(int32_t));
    if (slot->tensor.sizes == NULL) {
        return false;
    }
    memcpy(slot->tensor.sizes, tensor->sizes, tensor->rank * sizeof(int32_t));
    return true;
}

static bool fill_slot(ember_method_t *method, ember_slot_t *slot, uint32_t index) {
    ember_value_t value;
    const uint8_t *body = ember_method_body(method, index, &value);
    slot->method = method;
    slot->index = index;
    slot->source = NO_SOURCE;
    slot->kind = (uint8_t)value.kind;
    if (value.kind == EMBER_TENSOR) {
        return fill_tensor(method, slot, body);
    }
    if (is_scalar(value.kind)) {
        slot->as_int = value.as_int;
    }
    return true;
}

ember_status_t ember_method_load_values(ember_method_t *method) {
    const uint32_t count = method->meta.value_count;
    ember_arena_t *arena = &method->arena;
    method->delegates = ember_arena_array(
        arena, vector_count(method->meta.plan[PLAN_DELEGATES].at),
        sizeof(struct ember_delegate), _Alignof(struct ember_delegate));
    method->changing =
        ember_arena_array(arena, (count + 31) / 32, sizeof(uint32_t), sizeof(uint32_t));
    method->work_before = ember_arena_array(arena, method->meta.instruction_count,
                                            sizeof(uint64_t), sizeof(uint64_t));
    if (method->delegates == NULL || method->changing == NULL ||
        method->work_before == NULL) {
        return ember_method_no_memory(method);
    }
    mark_values(method);
    mark_inputs(method);
    mark_instructions(method);

    method->slots = ember_arena_array(&method->arena, method->slot_count,
                                      sizeof(ember_slot_t), _Alignof(ember_slot_t));
    bool room = method->slots != NULL;
    uint32_t next = 0;
    for (uint32_t i = 0; room && i < count; i++) {
        if (is_marked(method, i)) {
            room = fill_slot(method, &method->slots[next++], i);
        }
    }
    method->tracked = room ? count : 0;
    return room ? EMBER_OK : ember_method_no_memory(method);
}
