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
