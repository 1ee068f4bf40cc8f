// SPDX-License-Identifier: Apache-2.0
// The test runner: executing with a fill of all bytes that the plan calls dead.
#include "runner.h"

#include "ember/event.h"

#include <string.h>

static bool is_inside(const ember_batch_dead_t *dead, const ember_method_t *method,
                      const ember_span_t *planned) {
    return dead->memory_id > 0 && dead->memory_id <= method->meta.planned_count &&
           dead->start <= dead->end && dead->end <= planned[dead->memory_id - 1].size;
}

ember_status_t test_dead_check(test_case_t *test, const test_method_t *loaded) {
    for (uint32_t i = 0; i < loaded->dead.count; i++) {
        if (!is_inside(&loaded->dead_ranges[i], &loaded->method, loaded->planned)) {
            return ember_fail(&test->error, EMBER_BAD_ARGUMENT,
                              "case: dead bytes outside of planned memory");
        }
    }
    return EMBER_OK;
}

static void fill(const test_method_t *loaded, uint32_t instruction) {
    for (uint32_t i = 0; i < loaded->dead.count; i++) {
        const ember_batch_dead_t *dead = &loaded->dead_ranges[i];
        if (dead->first <= instruction && instruction <= dead->last) {
            uint8_t *memory = loaded->planned[dead->memory_id - 1].data;
            memset(memory + dead->start, (int)loaded->dead.fill,
                   dead->end - dead->start);
        }
    }
}

static void begin(void *context, uint32_t instruction) {
    fill(context, instruction);
}

static void end(void *context, uint32_t instruction, ember_status_t status) {
    (void)context;
    (void)instruction;
    (void)status;
}

ember_status_t test_dead_execute(test_case_t *test, test_method_t *loaded) {
    const ember_tracer_t tracer = {begin, end, loaded};
    const ember_status_t status =
        ember_method_execute_traced(&loaded->method, &tracer, &test->error);
    fill(loaded, loaded->method.meta.instruction_count);
    return status;
}
