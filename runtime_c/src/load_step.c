// SPDX-License-Identifier: Apache-2.0
// From an instruction to a step { run, state }: calls whose arguments can never change.
#include "ember/event.h"

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

void ember_method_call(ember_method_t *method, const uint8_t *body,
                       ember_field_t *fields) {
    ember_flat_t *flat = &method->flat;
    const uint16_t *at =
        ember_flat_layout(flat, body, CALL_FIELDS, flat->layouts[LAYOUT_CALL]);
    fields[CALL_INDEX].number = flat_u32(body, at[CALL_INDEX]);
    fields[CALL_ARGS].at = ember_flat_vector(flat, body, at[CALL_ARGS], FLAT_VEC4);
}

ember_status_t ember_method_load_fixed(ember_node_t *node,
                                       const ember_operator_t *operation) {
    ember_step_t *step = &node->method->steps[node->instruction];
    step->state = NULL;
    const ember_status_t status = ember_node_prepare(node, operation, &step->state);
    if (status != EMBER_OK) {
        return status;
    }
    if (node->unbound) {
        return fail(node->method, EMBER_BAD_PROGRAM, "call: a tensor has no memory");
    }
    step->run = node->kernel->run;
    ember_work_add(&node->method->work, node->work);
    return EMBER_OK;
}

ember_status_t ember_method_bad_index(ember_method_t *method) {
    return fail(method, EMBER_BAD_PROGRAM, "instruction: an index is out of range");
}

static ember_status_t load_kernel(ember_method_t *method, const uint8_t *body,
                                  uint32_t index) {
    ember_field_t call[2];
    ember_method_call(method, body, call);
    if (call[CALL_INDEX].number >= vector_count(method->meta.plan[PLAN_OPERATORS].at)) {
        return ember_method_bad_index(method);
    }
    const ember_operator_t *operation = method->operators[call[CALL_INDEX].number];
    ember_node_t node; // the rest is set while it is prepared
    node.method = method;
    node.args = call[CALL_ARGS].at;
    node.instruction = index;
    node.strict = false;
    if (operation == NULL) {
        return fail(method, EMBER_UNSUPPORTED, "call: this build lacks its operator");
    }
    const uint32_t count = vector_count(node.args);
    if (count < operation->min_args || count > operation->max_args) {
        return fail(method, EMBER_BAD_PROGRAM, "call: wrong number of arguments");
    }
    return method->parts != NULL ? method->parts->load_call(&node, operation)
                                 : ember_method_load_fixed(&node, operation);
}

ember_status_t ember_method_load_step(ember_method_t *method, uint32_t index) {
    const uint8_t *body =
        ember_plan_value(&method->flat, method->meta.instructions, index, NULL);
    if (method->flat.tag == CALL_KERNEL) {
        return load_kernel(method, body, index);
    }
    if (method->parts != NULL) {
        return method->parts->load_other(method, index);
    }
    method->changes = true;
    return EMBER_UNSUPPORTED; // for now
}

ember_event_kind_t ember_method_instruction_kind(const ember_method_t *method,
                                                 uint32_t index) {
    ember_flat_t flat = method->flat;
    (void)ember_plan_value(&flat, method->meta.instructions, index, NULL);
    return (ember_event_kind_t)flat.tag;
}
