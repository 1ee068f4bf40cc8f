// SPDX-License-Identifier: Apache-2.0
// The test runner: loads a case's methods into the board's memory.
#include "runner.h"

#include "ember/port.h"

#include <string.h>

enum {
    SHARED_FIRST = 2, // memory ids from here on are shared between methods
    SHARED_MOST = 32
};

void *test_case_take(test_case_t *test, size_t size) {
    void *memory = ember_arena_alloc(&test->arena, size, EMBER_ALIGN);
    if (memory == NULL) {
        test->result.needed = (uint64_t)test->arena.used + size;
    }
    return memory;
}

void *test_case_take_zeroed(test_case_t *test, size_t count, size_t size) {
    void *memory = test_case_take(test, count * size);
    return memory != NULL ? memset(memory, 0, count * size) : NULL;
}

ember_status_t test_case_no_memory(test_case_t *test) {
    return ember_fail(&test->error, EMBER_NO_MEMORY, "case: larger than the memory");
}

// --- memory of a method ----------------------------------------------------------

// Memories with an id from 2 on are shared by all methods of the program and as large
// as the largest needs: ExecuTorch keeps shared buffers there.
static ember_status_t take_shared(test_case_t *test, const ember_method_meta_t *metas) {
    size_t sizes[SHARED_MOST] = {0};
    for (uint32_t m = 0; m < test->head.method_count; m++) {
        for (uint32_t id = SHARED_FIRST; id <= metas[m].planned_count; id++) {
            const size_t size = ember_method_meta_planned_size(&metas[m], id);
            const uint32_t at = id - SHARED_FIRST;
            if (at >= SHARED_MOST) {
                return ember_fail(&test->error, EMBER_UNSUPPORTED,
                                  "case: more planned memories than the runner has");
            }
            sizes[at] = size > sizes[at] ? size : sizes[at];
            test->shared_count = at >= test->shared_count ? at + 1 : test->shared_count;
        }
    }
    test->shared =
        test_case_take_zeroed(test, test->shared_count, sizeof(*test->shared));
    for (uint32_t i = 0; test->shared != NULL && i < test->shared_count; i++) {
        test->shared[i] =
            (ember_span_t){test_case_take_zeroed(test, sizes[i], 1), sizes[i]};
        test->result.planned += sizes[i];
        if (test->shared[i].data == NULL) {
            return test_case_no_memory(test);
        }
    }
    return test->shared != NULL ? EMBER_OK : test_case_no_memory(test);
}

static ember_status_t take_planned(test_case_t *test, test_method_t *loaded,
                                   const ember_method_meta_t *meta) {
    loaded->planned =
        test_case_take_zeroed(test, meta->planned_count, sizeof(ember_span_t));
    if (loaded->planned == NULL) {
        return test_case_no_memory(test);
    }
    if (meta->planned_count == 0) {
        return EMBER_OK;
    }
    const size_t own = ember_method_meta_planned_size(meta, 1);
    loaded->planned[0] = (ember_span_t){test_case_take_zeroed(test, own, 1), own};
    test->result.planned += own;
    for (uint32_t i = 1; i < meta->planned_count; i++) {
        loaded->planned[i] = test->shared[i + 1 - SHARED_FIRST];
    }
    return loaded->planned[0].data != NULL ? EMBER_OK : test_case_no_memory(test);
}

static bool lacks_memory(const ember_value_t *value) {
    return value->kind == EMBER_TENSOR && value->as_tensor.data == NULL &&
           ember_tensor_bytes(&value->as_tensor) > 0;
}

// Memory for the inputs and outputs that the program leaves to its caller.
static ember_status_t lend(test_case_t *test, ember_method_t *method) {
    ember_value_t value;
    ember_status_t status = EMBER_OK;
    for (uint32_t i = 0; status == EMBER_OK && i < method->meta.output_count; i++) {
        status = ember_method_output(method, i, &value);
        if (status == EMBER_OK && lacks_memory(&value)) {
            const size_t size = ember_tensor_bytes(&value.as_tensor);
            void *memory = test_case_take(test, size);
            status = memory != NULL ? ember_method_set_output(method, i, memory, size,
                                                              &test->error)
                                    : test_case_no_memory(test);
        }
    }
    for (uint32_t i = 0; status == EMBER_OK && i < method->meta.input_count; i++) {
        status = ember_method_input(method, i, &value);
        if (status == EMBER_OK && lacks_memory(&value)) {
            value.as_tensor.data =
                test_case_take_zeroed(test, ember_tensor_bytes(&value.as_tensor), 1);
            status = value.as_tensor.data != NULL
                         ? ember_method_set_input(method, i, &value, &test->error)
                         : test_case_no_memory(test);
        }
    }
    return status;
}

// --- budget --------------------------------------------------------------------------

// Steps of one execution; for UNKNOWN enough for any terminating program of the tests:
// loops of 100,000 rounds.
static uint64_t budget_of(const test_case_t *test, const ember_method_t *method) {
    enum { ROUNDS = 100000 };
    const uint64_t most = EMBER_BATCH_UNKNOWN / ROUNDS;
    const uint64_t work = method->work + method->volatile_work;
    if (test->head.budget != EMBER_BATCH_UNKNOWN) {
        return test->head.budget;
    }
    return (work < most ? work : most) * ROUNDS;
}

// --- loading -----------------------------------------------------------------------

static ember_status_t load_method(test_case_t *test, uint32_t index,
                                  const ember_method_meta_t *meta) {
    static const ember_registry_t registry = {&ember_operators, &ember_backends,
                                              &ember_changing};
    test_method_t *loaded = &test->methods[index];
    ember_status_t status = take_planned(test, loaded, meta);
    uint8_t *data = test_case_take(test, 0);
    if (status != EMBER_OK || data == NULL) {
        return test_case_no_memory(test);
    }
    const ember_memory_t memory = {
        .method = {.data = data, .size = test->arena.size - test->arena.used},
        .planned = loaded->planned,
        .planned_count = meta->planned_count,
        .temp = test->temp,
    };
    ember_port_mark_begin(EMBER_MARK_LOAD);
    status = ember_method_load(&loaded->method, &test->program, loaded->name, &registry,
                               &memory, &test->error);
    ember_port_mark_end(EMBER_MARK_LOAD);
    if (status != EMBER_OK) {
        return status;
    }
    (void)test_case_take(test, loaded->method.arena.peak);
    loaded->method.cleared = loaded->planned; // only its own: test_case_reset()
    loaded->method.cleared_count = meta->planned_count > 0;
    ember_method_set_budget(&loaded->method, budget_of(test, &loaded->method));
    test->result.method += loaded->method.arena.peak;
    if (loaded->method.temp_used > test->result.scratch) {
        test->result.scratch = loaded->method.temp_used;
    }
    return lend(test, &loaded->method);
}

static ember_status_t load_all(test_case_t *test) {
    const uint32_t count = test->head.method_count;
    ember_method_meta_t *metas = test_case_take_zeroed(test, count, sizeof(*metas));
    test->methods = test_case_take_zeroed(test, count, sizeof(*test->methods));
    if (metas == NULL || test->methods == NULL) {
        return test_case_no_memory(test);
    }
    ember_status_t status = EMBER_OK;
    const char *name = (const char *)test->names;
    for (uint32_t i = 0; status == EMBER_OK && i < count; i++) {
        test->result.which = i;
        test->methods[i].name = name;
        name += strlen(name) + 1;
        status = ember_method_meta(&test->program, test->methods[i].name, &metas[i],
                                   &test->error);
    }
    if (status == EMBER_OK) {
        status = take_shared(test, metas);
    }
    for (uint32_t i = 0; status == EMBER_OK && i < count; i++) {
        test->result.which = i;
        status = load_method(test, i, &metas[i]);
    }
    return status;
}

// How much of the free memory scratch gets is a guess, because a program reports its
// need only while it loads: if the first guess was wrong, others follow.
ember_status_t test_case_load(test_case_t *test) {
    static const uint8_t eighths[] = {4, 1, 7, 0, 2, 6, 3, 5};
    const ember_arena_t before = test->arena;
    ember_status_t status = EMBER_NO_MEMORY;
    for (uint32_t i = 0; status == EMBER_NO_MEMORY && i < sizeof(eighths); i++) {
        test_case_unload(test);
        test->arena = before;
        test->methods = NULL;
        test->shared_count = 0;
        test->result.method = test->result.planned = test->result.scratch = 0;
        test->result.needed = EMBER_BATCH_UNKNOWN;
        const size_t free = test->arena.size - test->arena.used;
        const size_t scratch = free / 8 * eighths[i] & ~(size_t)(EMBER_ALIGN - 1);
        test->arena.size -= scratch;
        test->temp = (ember_span_t){test->arena.data + test->arena.size, scratch};
        status = load_all(test);
    }
    if (status == EMBER_OK && test->head.method_count == 1) {
        test_spare_fill(test);
    }
    return status;
}

void test_case_unload(test_case_t *test) {
    for (uint32_t i = 0; test->methods != NULL && i < test->head.method_count; i++) {
        if (test->methods[i].method.meta.program != NULL) {
            ember_method_unload(&test->methods[i].method);
        }
    }
}

// What methods share is cleared before the first of them sets its states there.
void test_case_reset(test_case_t *test) {
    for (uint32_t i = 0; i < test->shared_count; i++) {
        memset(test->shared[i].data, 0, test->shared[i].size);
    }
    for (uint32_t i = 0; i < test->head.method_count; i++) {
        ember_method_reset(&test->methods[i].method);
    }
}
