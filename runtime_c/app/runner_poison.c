// SPDX-License-Identifier: Apache-2.0
// The test runner: overwrites bytes that must not be read any more: those that are dead
// in the plan, and those of the program that a loaded method no longer needs.
#include "runner.h"

#include "ember/event.h"

#include <string.h>

enum { SPARE_FILL = 0xA5 };

static bool is_inside(const ember_batch_dead_t *dead, const ember_method_t *method,
                      const ember_span_t *planned) {
    return dead->memory_id > 0 && dead->memory_id <= method->meta.planned_count &&
           dead->start <= dead->end && dead->end <= planned[dead->memory_id - 1].size;
}

ember_status_t test_dead_check(test_case_t *test, const test_method_t *loaded) {
    for (uint32_t i = 0; i < loaded->dead.count; i++) {
        if (!is_inside(&loaded->dead_ranges[i], &loaded->method, loaded->planned)) {
            return ember_fail(&test->error, EMBER_BAD_ARGUMENT,
                              "case: dead bytes outside planned memory");
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

static bool is_in_arena(const test_case_t *test, const ember_bytes_t *bytes) {
    const uintptr_t first = (uintptr_t)test->arena.data;
    const uintptr_t at = (uintptr_t)bytes->data;
    return at >= first && at - first < test->arena.used;
}

void test_spare_fill(const test_case_t *test) {
    const ember_method_t *method = &test->methods[0].method;
    ember_bytes_t spare;
    for (uint32_t i = 0; ember_method_spare(method, i, &spare); i++) {
        if (is_in_arena(test, &spare)) {
            memset((void *)(uintptr_t)spare.data, SPARE_FILL, spare.size);
        }
    }
}
