// SPDX-License-Identifier: Apache-2.0
// The test runner: cycles of each instruction, from the board's counter.
#include "runner.h"

#include "ember/event.h"
#include "ember/port.h"

typedef struct clock {
    ember_batch_node_t *nodes;
    uint32_t began;
} clock_t;

static void begin(void *context, uint32_t instruction) {
    clock_t *clock = context;

    (void)instruction;
    clock->began = ember_port_cycles();
}

static void end(void *context, uint32_t instruction, ember_status_t status) {
    const uint32_t now = ember_port_cycles();
    clock_t *clock = context;
    ember_batch_node_t *node = &clock->nodes[instruction];

    (void)status;
    node->cycles += now - clock->began;
    node->executions++;
}

ember_status_t test_timed_execute(test_case_t *test, test_method_t *loaded) {
    const uint32_t count = loaded->method.meta.instruction_count;
    const size_t size =
        sizeof(ember_batch_cycles_t) + count * sizeof(ember_batch_node_t);

    test->cycles = test_case_take_zeroed(test, size, 1);
    if (test->cycles == NULL) {
        return test_case_no_memory(test);
    }
    *test->cycles =
        (ember_batch_cycles_t){test->head.index, test->result.which, 0, count};
    clock_t clock = {.nodes = (ember_batch_node_t *)(test->cycles + 1)};
    const ember_tracer_t tracer = {begin, end, &clock};
    const uint32_t began = ember_port_cycles();
    const ember_status_t status =
        ember_method_execute_traced(&loaded->method, &tracer, &test->error);
    test->cycles->whole = ember_port_cycles() - began;
    return status;
}
