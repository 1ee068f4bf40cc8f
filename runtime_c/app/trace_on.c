// SPDX-License-Identifier: Apache-2.0
// Executing with a mark around each instruction.
#include "trace.h"

#include "ember/event.h"
#include "ember/port.h"

static void begin(void *context, uint32_t instruction) {
    (void)context;
    (void)instruction;
    ember_port_mark_begin(EMBER_MARK_NODE);
}

// The index is written outside the marks, so it costs the node nothing.
static void end(void *context, uint32_t instruction, ember_status_t status) {
    ember_port_mark_end(EMBER_MARK_NODE);
    (void)status;
    (void)ember_port_write(*(int32_t *)context, &instruction, sizeof(instruction));
}

ember_status_t ember_trace_execute(ember_method_t *method, int32_t file,
                                   ember_error_t *err) {
    const uint32_t last = UINT32_MAX;
    const ember_tracer_t tracer = {begin, end, &file};
    const ember_status_t status = ember_method_execute_traced(method, &tracer, err);
    return ember_port_write(file, &last, sizeof(last)) == 0 ? status : EMBER_IO;
}

static void begin_inside(void *context, uint32_t node) {
    (void)context;
    (void)node;
    ember_port_mark_begin(EMBER_MARK_INSIDE);
}

static void end_inside(void *context, uint32_t node) {
    (void)context;
    (void)node;
    ember_port_mark_end(EMBER_MARK_INSIDE);
}

ember_status_t ember_trace_inside(ember_method_t *method, ember_error_t *err) {
    const ember_delegate_tracer_t tracer = {.begin = begin_inside, .end = end_inside};
    ember_method_trace_delegates(method, &tracer);
    const ember_status_t status = ember_method_execute(method, err);
    ember_method_trace_delegates(method, NULL);
    return status;
}
