// SPDX-License-Identifier: Apache-2.0
// Executes a method with hooks around every instruction.
#include "ember/event.h"

#include "method_state.h"

static int32_t run_traced(const ember_tracer_t *tracer, const ember_step_t *step,
                          uint32_t index) {
    tracer->begin(tracer->context, index);
    const int32_t next = step->run(step->state);
    tracer->end(tracer->context, index, next < 0 ? (ember_status_t)next : EMBER_OK);
    return next;
}

ember_status_t ember_method_execute_traced(ember_method_t *method,
                                           const ember_tracer_t *tracer,
                                           ember_error_t *err) {
    uint32_t index = 0;
    if (!ember_method_begin(method)) {
        return ember_method_fail(method, EMBER_NO_INSTRUCTION, EMBER_BUDGET, err);
    }
    while (index != method->meta.instruction_count) {
        const ember_step_t *step = &method->steps[index];
        const int32_t next = run_traced(tracer, step, index);
        index++;
        if (next < 0) {
            return ember_method_fail(method, index - 1, next, err);
        }
        if (next > 0) {
            index = (uint32_t)next - 1;
        }
    }
    return EMBER_OK;
}

// Where a fixed tensor with planned memory is. Constants are left out: through them,
// hooks could reach the functions of data files, which, as far as the stack analysis
// knows, may call hooks.
static void place(ember_method_t *method, const ember_plan_tensor_t *plan,
                  ember_tensor_t *tensor) {
    const uint16_t *offsets =
        ember_flat_layout(&method->flat, plan->allocation, ALLOCATION_FIELDS,
                          method->flat.layouts[LAYOUT_ALLOCATION]);
    tensor->data = ember_span_at(method->planned, method->planned_count,
                                 flat_u32(plan->allocation, offsets[ALLOCATION_ID]),
                                 flat_u32(plan->allocation, offsets[ALLOCATION_LOW]),
                                 ember_tensor_bytes(tensor));
}

static bool look_at_tensor(ember_method_t *method, ember_slot_t *slot,
                           const uint8_t *body, ember_tensor_t *tensor) {
    ember_plan_tensor_t plan;
    if (slot != NULL) {
        return method->parts->tensor(slot, body, tensor);
    }
    // unreached: a loaded method has no malformed tensors
    if (!ember_plan_tensor(&method->flat, body, &plan)) {
        return false;
    }
    *tensor = plan.tensor;
    if (plan.allocation != NULL) {
        place(method, &plan, tensor);
    }
    return true;
}

ember_status_t ember_method_look(ember_method_t *method, uint32_t index,
                                 ember_value_t *value) {
    ember_slot_t *slot;
    if (method->prepared != NULL ||
        index >= vector_count(method->meta.plan[PLAN_VALUES].at)) {
        return EMBER_BAD_ARGUMENT;
    }
    const uint32_t source = ember_method_resolve(method, index, &slot);
    const uint8_t *body = ember_method_body(method, source, value);
    if (slot != NULL && is_scalar(slot->kind)) {
        value->kind = (ember_kind_t)slot->kind;
        value->as_int = slot->as_int; // also the bits of a bool or double
        // unreached: a loaded method has no malformed tensors
    } else if (value->kind == EMBER_TENSOR &&
               !look_at_tensor(method, slot, body, &value->as_tensor)) {
        value->kind = EMBER_NONE;
    }
    return EMBER_OK;
}

void ember_method_trace_delegates(ember_method_t *method,
                                  const ember_delegate_tracer_t *tracer) {
    method->delegate_tracer = tracer;
}
