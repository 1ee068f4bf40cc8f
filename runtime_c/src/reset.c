// SPDX-License-Identifier: Apache-2.0
// The initial states of buffers: set by a load, and again by a reset.
#include "method_state.h"

void ember_method_set_state(ember_method_t *method, const ember_plan_tensor_t *plan) {
    ember_flat_t *flat = &method->flat;
    const ember_program_t *program = method->meta.program;
    const ember_vector_t lists = program->root[PROGRAM_MUTABLE_SEGMENTS].at;
    const uint8_t *table = NULL;
    ember_offsets_t offsets;
    const size_t list =
        ember_flat_size(ember_flat_field(flat, plan->extra, EXTRA_MUTABLE_SEGMENT).at);
    if (list < vector_count(lists)) {
        table = ember_flat_item(flat, lists, (uint32_t)list);
    }
    ember_plan_offsets(flat, program, table, &offsets);
    const uint8_t *data = ember_plan_data(flat, program, plan, &offsets);
    if (flat->status == EMBER_OK && plan->tensor.numel > 0) {
        memcpy(plan->tensor.data, data, ember_tensor_bytes(&plan->tensor));
    }
}

static void clear(const ember_span_t *spans, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (spans[i].size > 0) {
            memset(spans[i].data, 0, spans[i].size);
        }
    }
}

static void set_state_of(ember_method_t *method, const uint8_t *table) {
    ember_plan_tensor_t plan;
    (void)ember_method_place(method, table, &plan); // loading has: it is not malformed
    if (plan.allocation != NULL && ember_plan_has_data(&plan)) {
        ember_method_set_state(method, &plan);
    }
}

static void set_states(ember_method_t *method) {
    for (uint32_t i = 0; i < method->meta.value_count; i++) {
        ember_value_t value;
        const uint8_t *body = ember_method_body(method, i, &value);
        if (value.kind == EMBER_TENSOR) {
            set_state_of(method, body);
        }
    }
}

void ember_method_reset(ember_method_t *method) {
    if (method->cleared != NULL) {
        clear(method->cleared, method->cleared_count);
    } else {
        clear(method->planned, method->planned_count);
    }
    if (method->parts != NULL) { // else it has no initial states
        set_states(method);
    }
}
