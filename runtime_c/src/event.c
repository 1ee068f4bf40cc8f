// SPDX-License-Identifier: Apache-2.0
// Executing a method with hooks around every instruction.
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
