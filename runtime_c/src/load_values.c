// SPDX-License-Identifier: Apache-2.0
// Which values can change, their slots, and the initial states of buffers.
#include "method_state.h"

static void mark(ember_method_t *method, uint32_t index) {
    method->changing[index / 32] |= 1u << (index % 32);
}

// Copies the initial state of a buffer into its planned memory, and checks that
// external data exists.
static ember_status_t load_state(ember_method_t *method, ember_plan_tensor_t *plan) {
    ember_bytes_t data;
    if (!ember_plan_tensor_data(method->meta.program, plan, &data)) {
        return ember_fail(
            &method->error, EMBER_NOT_FOUND,
            "tensor: its data is in no data file (.ptd), or another shape");
    }
    ember_method_place(method, plan);
    if (!plan->tensor.constant && plan->tensor.numel > 0) {
        memcpy(plan->tensor.data, data.data, ember_tensor_bytes(&plan->tensor));
    }
    return EMBER_OK;
}

// Tensors of dynamic shape, and those whose memory comes later.
static ember_status_t mark_tensor(ember_method_t *method, uint32_t index,
                                  const uint8_t *table) {
    ember_plan_tensor_t plan;
    (void)ember_plan_tensor(table, &plan);
    const bool external = ember_plan_is_external(&plan);
    const bool planned = plan.allocation != NULL;
    const bool filled = plan.buffer != 0 || external;
    if (plan.dynamism != SHAPE_STATIC || (!planned && !filled)) {
        mark(method, index);
    }
    if (filled && (planned || external)) {
        return load_state(method, &plan);
    }
    return EMBER_OK;
}

static ember_status_t mark_values(ember_method_t *method) {
    for (uint32_t i = 0; i < method->meta.value_count; i++) {
        ember_kind_t kind;
        const uint8_t *body = ember_plan_value(method->values, i, &kind);
        if (kind == EMBER_TENSOR) {
            const ember_status_t status = mark_tensor(method, i, body);
            if (status != EMBER_OK) {
                return status;
            }
        }
    }
    return EMBER_OK;
}

static void mark_inputs(ember_method_t *method) {
    const ember_vector_t inputs = ember_flat_vector(method->meta.plan, PLAN_INPUTS);
    for (uint32_t i = 0; i < vector_count(inputs); i++) {
        ember_kind_t kind;
        (void)ember_plan_value(method->values, vector_u32(inputs, i), &kind);
        if (is_scalar(kind)) {
            mark(method, vector_u32(inputs, i));
        }
    }
}

// A call's last argument is its result: a scalar there is written by it, and an
// operator may point a tensor there at other memory.
static void mark_result(ember_method_t *method, const uint8_t *call) {
    const ember_vector_t args = ember_flat_vector(call, CALL_ARGS);
    const ember_operator_t *operation =
        method->operators[ember_flat_u32(call, CALL_INDEX)];
    const uint32_t count = vector_count(args);
    if (count == 0) {
        return;
    }
    const uint32_t last = vector_u32(args, count - 1);
    ember_kind_t kind;
    (void)ember_plan_value(method->values, last, &kind);
    if (is_scalar(kind) || (kind == EMBER_TENSOR && operation != NULL &&
                            (operation->flags & EMBER_OP_BINDS_OUTPUT) != 0)) {
        mark(method, last);
    }
}

static void mark_instructions(ember_method_t *method) {
    for (uint32_t i = 0; i < method->meta.instruction_count; i++) {
        uint32_t tag;
        const uint8_t *body = ember_method_instruction(method, i, &tag);
        if (tag == CALL_KERNEL) {
            mark_result(method, body);
        } else if (tag == CALL_MOVE) {
            mark(method, ember_flat_u32(body, MOVE_TO));
        }
    }
}

static uint32_t count_marks(const ember_method_t *method) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < (method->meta.value_count + 31) / 32; i++) {
        for (uint32_t word = method->changing[i]; word != 0; word &= word - 1) {
            count++;
        }
    }
    return count;
}

// Memory and shape that a changing tensor starts with.
static bool fill_tensor(ember_method_t *method, ember_slot_t *slot,
                        const uint8_t *table) {
    ember_plan_tensor_t plan;
    const ember_tensor_t *tensor = &plan.tensor;
    (void)ember_plan_tensor(table, &plan);
    ember_method_place(method, &plan);
    slot->constant = tensor->constant;
    slot->tensor.data = tensor->data;
    slot->tensor.capacity = (uint32_t)ember_tensor_bytes(tensor);
    if (plan.dynamism == SHAPE_STATIC || tensor->rank == 0) {
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
    ember_kind_t kind;
    const uint8_t *body = ember_plan_value(method->values, index, &kind);
    slot->method = method;
    slot->index = index;
    slot->source = NO_SOURCE;
    slot->kind = (uint8_t)kind;
    if (kind == EMBER_TENSOR) {
        return fill_tensor(method, slot, body);
    }
    if (is_scalar(kind)) {
        ember_value_t value = {.kind = kind};
        ember_plan_scalar(body, &value);
        slot->as_int = value.as_int;
    }
    return true;
}

ember_status_t ember_method_load_values(ember_method_t *method) {
    const ember_status_t status = mark_values(method);
    if (status != EMBER_OK) {
        return status;
    }
    mark_inputs(method);
    mark_instructions(method);

    method->slot_count = count_marks(method);
    method->slots = ember_arena_array(&method->arena, method->slot_count,
                                      sizeof(ember_slot_t), _Alignof(ember_slot_t));
    bool room = method->slots != NULL;
    uint32_t next = 0;
    for (uint32_t i = 0; room && i < method->meta.value_count; i++) {
        if ((method->changing[i / 32] >> (i % 32) & 1) != 0) {
            room = fill_slot(method, &method->slots[next++], i);
        }
    }
    return room ? EMBER_OK
                : ember_fail(&method->error, EMBER_NO_MEMORY,
                             "method: its arena is too small");
}
