// SPDX-License-Identifier: Apache-2.0
// Executing a method: a walk over its steps.
#include "method_state.h"

void ember_method_begin(ember_method_t *method) {
    method->error.status = EMBER_OK;
}

ember_status_t ember_method_fail(ember_method_t *method, uint32_t instruction,
                                 int32_t status, ember_error_t *err) {
    (void)ember_error_close(&method->error, (ember_status_t)status, instruction);
    if (err != NULL) {
        *err = method->error;
    }
    return (ember_status_t)status;
}

// Straight runs are finite, so only jumps are charged: with all steps since the last.
bool ember_method_charge(const ember_method_t *method, uint32_t steps, uint32_t *left) {
    if (method->budget != 0 && steps > *left) {
        return false;
    }
    *left -= steps;
    return true;
}

ember_status_t ember_method_execute(ember_method_t *method, ember_error_t *err) {
    const ember_step_t *const end = method->steps + method->meta.instruction_count;
    const ember_step_t *from = method->steps;
    const ember_step_t *step = from;
    uint32_t left = method->budget;

    ember_method_begin(method);
    while (step != end) {
        const int32_t next = step->run(step->state);
        step++;
        if (next == 0) {
            continue;
        }
        if (next < 0) {
            return ember_method_fail(method, (uint32_t)(step - 1 - method->steps), next,
                                     err);
        }
        if (!ember_method_charge(method, (uint32_t)(step - from), &left)) {
            return ember_method_fail(method, (uint32_t)(step - 1 - method->steps),
                                     EMBER_BUDGET, err);
        }
        step = from = method->steps + (next - 1);
    }
    return EMBER_OK;
}

void ember_method_set_budget(ember_method_t *method, uint32_t instructions) {
    method->budget = instructions;
}

// --- volatile nodes ------------------------------------------------------------------

// A moved list may lead to values that the node does not watch.
static bool is_list(ember_method_t *method, uint32_t index) {
    uint32_t kind;
    (void)ember_method_body(method, index, &kind);
    return kind > EMBER_STRING;
}

static bool is_stale(const ember_volatile_t *node) {
    for (uint32_t i = 0; i < node->slot_count; i++) {
        const ember_slot_t *slot = node->slots[i];
        if (slot->stamp > node->prepared_at) {
            return true;
        }
        if (slot->source != NO_SOURCE) {
            const uint32_t source = (uint32_t)slot->source;
            slot = ember_method_slot(node->method, source);
            if ((slot != NULL && slot->stamp > node->prepared_at) ||
                is_list(node->method, source)) {
                return true;
            }
        }
    }
    return node->prepared_at == 0;
}

static ember_status_t prepare_again(ember_volatile_t *node) {
    ember_method_t *method = node->method;
    ember_field_t call[2];
    (void)ember_method_instruction(method, node->instruction, call);
    ember_node_t handle = {
        .method = method, .args = call[CALL_ARGS].at, .instruction = node->instruction};
    node->prepared_at = 0;
    method->credit = method->list_items;
    const ember_status_t status =
        ember_node_prepare(&handle, node->operation, &node->state);
    if (status != EMBER_OK) {
        return status;
    }
    if (handle.unbound) {
        return ember_fail(&method->error, EMBER_BAD_ARGUMENT,
                          "call: a tensor has no memory; set inputs and outputs first");
    }
    node->run = handle.kernel->run;
    node->prepared_at = method->clock;
    return EMBER_OK;
}

int32_t ember_run_volatile(void *state) {
    ember_volatile_t *node = state;
    if (is_stale(node)) {
        const ember_status_t status = prepare_again(node);
        if (status != EMBER_OK) {
            return status;
        }
    }
    return node->run(node->state);
}
