// SPDX-License-Identifier: Apache-2.0
// The test runner's parts: memory for one case at a time. Internal.
//
// A case takes memory from the bottom of the workspace: its record, planned memories,
// method arenas, memory for inputs and outputs that the plan leaves to the caller.
// Scratch is at the top. All of it is released when the case ends.
#ifndef EMBER_APP_RUNNER_H
#define EMBER_APP_RUNNER_H

#include "batch.h"
#include "ember/bundle.h"
#include "ember/data.h"
#include "ember/model.h"

// The programs and data files that a runner for a small board has in its flash.
typedef struct ember_linked {
    const ember_bytes_t *items;
    uint32_t count;
} ember_linked_t;

extern const ember_linked_t ember_linked;
extern const ember_operators_t ember_operators;
extern const ember_backends_t ember_backends;

typedef struct test_method {
    ember_method_t method;
    const char *name;
    ember_span_t *planned;
    ember_batch_dead_head_t dead;
    ember_batch_dead_t *dead_ranges; // NULL: nothing is overwritten
    ember_batch_watch_head_t watch;
    ember_batch_watch_t *watches; // NULL: nothing is captured
} test_method_t;

typedef struct test_case {
    ember_batch_case_t head;
    ember_arena_t arena;
    const uint8_t *names;
    ember_bytes_t *files; // the program, then its data files
    ember_bundle_t bundle;
    ember_program_t program;
    ember_span_t *shared; // planned memories from id 2 on, by id - 2
    uint32_t shared_count;
    test_method_t *methods;
    ember_span_t temp;
    ember_batch_cycles_t *cycles; // of the last execution; its nodes follow
    uint32_t events;              // executed instructions of captured runs
    uint64_t written;             // bytes of NODE records
    ember_batch_result_t result;
    ember_error_t error;
} test_case_t;

// Opens the program of a CASE record whose bytes are at the bottom of the arena.
ember_status_t test_case_open(test_case_t *test, const uint8_t *record);

// Loads every method of the case. All are loaded before the first run, because loading
// sets the initial state of buffers that they may share.
ember_status_t test_case_load(test_case_t *test);

void test_case_unload(test_case_t *test);

// Puts the states of all methods back to their values after loading.
void test_case_reset(test_case_t *test);

// Overwrites the bytes of the program that the only method of a case no longer needs,
// if the program is in RAM.
void test_spare_fill(const test_case_t *test);

// Whether the dead ranges of a method are inside its memories.
ember_status_t test_dead_check(test_case_t *test, const test_method_t *loaded);

// Executes a method, and overwrites its dead ranges before every instruction and at the
// end.
ember_status_t test_dead_execute(test_case_t *test, test_method_t *loaded);

// Executes a method, and adds the cycles of each instruction to `cycles`.
ember_status_t test_timed_execute(test_case_t *test, test_method_t *loaded);

// Executes a method, and writes what is watched to the file `out`. In a case that is
// fed, tensors get what the file `in` says before each instruction.
ember_status_t test_captured_execute(test_case_t *test, test_method_t *loaded,
                                     int32_t in, int32_t out);

// `size` bytes of the case's memory at EMBER_ALIGN; NULL, and the need recorded, if
// there is no room.
void *test_case_take(test_case_t *test, size_t size);

// `count * size` such bytes, zeroed.
void *test_case_take_zeroed(test_case_t *test, size_t count, size_t size);

// Records that the case is larger than the memory; NO_MEMORY.
ember_status_t test_case_no_memory(test_case_t *test);

#endif // EMBER_APP_RUNNER_H
