// SPDX-License-Identifier: Apache-2.0
// One program, several threads with a method each, at the same time: nothing that the
// methods share is written. Run under ThreadSanitizer.
#include <pthread.h>

#include "check.h"
#include "subject.h"
#include "toys.h"

enum { THREADS = 4, TURNS = 50, ARENA = 1 << 14 };

typedef struct worker {
    pthread_t thread;
    const ember_program_t *program;
    uint32_t failures;
} worker_t;

static uint32_t execute_once(ember_method_t *method, int64_t n) {
    const ember_value_t count = {.kind = EMBER_INT, .as_int = n};
    ember_value_t x, y;
    if (ember_method_set_input(method, 0, &count, NULL) != EMBER_OK ||
        ember_method_input(method, 1, &x) != EMBER_OK) {
        return 1;
    }
    ((float *)x.as_tensor.data)[1] = 2;
    return ember_method_execute(method, NULL) != EMBER_OK ||
           ember_method_output(method, 0, &y) != EMBER_OK ||
           ((const float *)y.as_tensor.data)[1] != (float)(2 * n);
}

// Loads, executes and unloads: loading reads the program, too.
static void *work(void *context) {
    worker_t *worker = context;
    for (int64_t turn = 0; turn < TURNS; turn++) {
        ember_method_t method;
        ember_span_t planned = {test_alloc(ARENA), ARENA};
        const ember_memory_t memory = {
            .method = {.data = test_alloc(ARENA), .size = ARENA},
            .planned = &planned,
            .planned_count = 1,
        };
        if (ember_method_load(&method, worker->program, "forward", &toy_registry,
                              &memory, NULL) != EMBER_OK) {
            worker->failures++;
        } else {
            worker->failures += execute_once(&method, turn % 5);
            worker->failures += execute_once(&method, turn % 7);
            ember_method_unload(&method);
        }
        test_free(planned.data);
        test_free(memory.method.data);
    }
    return NULL;
}

static void methods_share_a_program(void) {
    static worker_t workers[THREADS];
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "loop.pte"), EMBER_OK);
    for (int i = 0; i < THREADS; i++) {
        workers[i].program = &subject.program;
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(workers[i].thread, NULL), 0);
        CHECK_EQ(workers[i].failures, 0);
    }
}

TESTS(TEST(methods_share_a_program))
