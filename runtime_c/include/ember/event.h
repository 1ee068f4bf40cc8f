// SPDX-License-Identifier: Apache-2.0
// EventTracer hooks. Linked only if ember_method_execute_traced() is called.
#ifndef EMBER_EVENT_H
#define EMBER_EVENT_H

#include "ember/method.h"

EMBER_C_BEGIN

typedef enum ember_event_kind {
    EMBER_EVENT_KERNEL = 1, // the schema's tags of instructions
    EMBER_EVENT_DELEGATE = 2,
    EMBER_EVENT_MOVE = 3,
    EMBER_EVENT_JUMP_FALSE = 4,
    EMBER_EVENT_FREE = 5,
} ember_event_kind_t;

typedef struct ember_tracer {
    // Around each instruction, in order of execution. `context` is passed through.
    void (*begin)(void *context, uint32_t instruction);
    void (*end)(void *context, uint32_t instruction, ember_status_t status);
    void *context;
} ember_tracer_t;

// ember_method_execute() with hooks around every instruction.
EMBER_MUST_USE ember_status_t ember_method_execute_traced(ember_method_t *method,
                                                          const ember_tracer_t *tracer,
                                                          ember_error_t *err);

// Tag of instruction `index` of a method.
ember_event_kind_t ember_method_instruction_kind(const ember_method_t *method,
                                                 uint32_t index);

// Sets hooks for the nodes inside the method's delegates, or none (NULL).
void ember_method_trace_delegates(ember_method_t *method,
                                  const ember_delegate_tracer_t *tracer);

// Value `index` of the program as it is now, for hooks that inspect what an instruction
// reads and writes. The data of constants is NULL. BAD_ARGUMENT past the end, and for
// methods that were prepared at build time: they have no values.
EMBER_MUST_USE ember_status_t ember_method_look(ember_method_t *method, uint32_t index,
                                                ember_value_t *value);

EMBER_C_END

#endif // EMBER_EVENT_H
