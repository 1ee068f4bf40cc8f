// SPDX-License-Identifier: Apache-2.0
// Executes a method: a walk over its steps.
#include "method_state.h"

ember_status_t ember_method_fail(ember_method_t *method, uint32_t instruction,
                                 int32_t status, ember_error_t *err) {
    (void)ember_error_close(&method->error, (ember_status_t)status, instruction);
    if (err != NULL) {
        *err = method->error;
    }
    return (ember_status_t)status;
}

ember_status_t ember_method_execute(ember_method_t *method, ember_error_t *err) {
    const ember_step_t *const end = method->steps + method->meta.instruction_count;
    const ember_step_t *step = method->steps;
    if (!ember_method_begin(method)) {
        return ember_method_fail(method, EMBER_NO_INSTRUCTION, EMBER_BUDGET, err);
    }
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
        step = method->steps + (next - 1);
    }
    return EMBER_OK;
}

void ember_method_set_budget(ember_method_t *method, uint64_t steps) {
    method->budget = steps > 0 ? steps : EMBER_NO_BUDGET;
}
