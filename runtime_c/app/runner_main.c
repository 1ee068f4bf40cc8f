// SPDX-License-Identifier: Apache-2.0
// The firmware of `ember test`: runs a stream of cases with the linked kernels, and
// writes a stream of results (batch.h). Arguments: two file names.
#include "runner.h"

#include "ember/port.h"
#include "values.h"

#include <string.h>

enum { LINE_SIZE = 512, PADDED = 4 };

typedef struct runner {
    int32_t in;
    int32_t out;
    uint64_t at; // of the next record
    ember_span_t memory;
} runner_t;

// --- records ---------------------------------------------------------------------

static void read_exactly(const runner_t *runner, void *to, size_t size) {
    if (ember_port_read(runner->in, to, size) != (int64_t)size) {
        ember_port_panic("the stream of cases ends early");
    }
}

static void write(const runner_t *runner, const void *data, size_t size) {
    if (ember_port_write(runner->out, data, size) != 0) {
        ember_port_panic("cannot write the results");
    }
}

static ember_batch_head_t next_record(runner_t *runner) {
    ember_batch_head_t head;
    read_exactly(runner, &head, sizeof(head));
    runner->at += sizeof(head) + head.length;
    return head;
}

static void expect_record(runner_t *runner, uint32_t kind) {
    if (next_record(runner).kind != kind) {
        ember_port_panic("the stream of cases lacks a record");
    }
}

// Goes to the next record, however much of this one was read.
static void end_record(const runner_t *runner) {
    if (ember_port_seek(runner->in, runner->at) != 0) {
        ember_port_panic("cannot move in the stream of cases");
    }
}

static void write_record(const runner_t *runner, uint32_t kind, const void *fixed,
                         size_t size, const char *text) {
    static const uint8_t zeros[PADDED];
    const size_t length = strlen(text);
    const size_t padding = (0u - length) % PADDED;
    const ember_batch_head_t head = {kind, (uint32_t)(size + length + padding)};
    write(runner, &head, sizeof(head));
    write(runner, fixed, size);
    write(runner, text, length);
    write(runner, zeros, padding);
}

// --- one run -----------------------------------------------------------------------

static ember_status_t set_inputs(const runner_t *runner, test_case_t *test,
                                 const ember_batch_run_t *run,
                                 ember_bundle_test_t *expected) {
    test_method_t *loaded = &test->methods[run->method];
    if ((test->head.flags & EMBER_BATCH_BUNDLE) == 0) {
        return ember_values_read(runner->in, &loaded->method, &test->error);
    }
    const ember_status_t status = ember_bundle_find(&test->bundle, loaded->name,
                                                    run->test, expected, &test->error);
    return status == EMBER_OK ? ember_bundle_load_inputs(expected, &loaded->method,
                                                         &test->arena, &test->error)
                              : status;
}

static ember_status_t execute_as_asked(const runner_t *runner, test_case_t *test,
                                       test_method_t *loaded) {
    if (loaded->dead_ranges != NULL) {
        return test_dead_execute(test, loaded);
    }
    if (loaded->watches != NULL) {
        return test_captured_execute(test, loaded, runner->in, runner->out);
    }
    return (test->head.flags & EMBER_BATCH_TIMED) != 0
               ? test_timed_execute(test, loaded)
               : ember_method_execute(&loaded->method, &test->error);
}

static ember_status_t execute(const runner_t *runner, test_case_t *test,
                              test_method_t *loaded) {
    ember_port_mark_begin(EMBER_MARK_EXECUTE);
    const ember_status_t status = execute_as_asked(runner, test, loaded);
    ember_port_mark_end(EMBER_MARK_EXECUTE);
    return status;
}

// Writes the outputs with the runtime's own verdict on them.
static ember_status_t report(const runner_t *runner, test_case_t *test,
                             const ember_batch_run_t *run,
                             const ember_bundle_test_t *expected) {
    ember_method_t *method = &test->methods[run->method].method;
    ember_batch_output_t output = {test->head.index, test->result.which, EMBER_OK, 0};
    if ((test->head.flags & EMBER_BATCH_BUNDLE) != 0) {
        output.verdict =
            ember_bundle_compare(expected, method, run->rtol, run->atol, &test->error);
        output.output = test->error.instruction;
    }
    if (output.verdict != EMBER_OK && output.verdict != EMBER_MISMATCH) {
        return (ember_status_t)output.verdict;
    }
    if (test->cycles != NULL) {
        const size_t nodes = test->cycles->count * sizeof(ember_batch_node_t);
        write_record(runner, EMBER_BATCH_CYCLES, test->cycles,
                     sizeof(*test->cycles) + nodes, "");
    }
    write_record(runner, EMBER_BATCH_OUTPUT, &output, sizeof(output), "");
    return ember_values_write(runner->out, method);
}

static ember_status_t run_once(const runner_t *runner, test_case_t *test) {
    const ember_arena_t before = test->arena;
    ember_bundle_test_t expected;
    ember_batch_run_t run;
    read_exactly(runner, &run, sizeof(run));
    if (run.reset != 0) {
        test_case_reset(test);
    }
    test->result.stage = EMBER_BATCH_INPUTS;
    ember_status_t status = set_inputs(runner, test, &run, &expected);
    if (status == EMBER_OK) {
        test->result.stage = EMBER_BATCH_EXECUTE;
        ember_method_t *method = &test->methods[run.method].method;
        status = execute(runner, test, &test->methods[run.method]);
        test->result.work += method->budget - method->left;
    }
    if (status == EMBER_OK) {
        test->result.stage = EMBER_BATCH_CHECK;
        status = report(runner, test, &run, &expected);
    }
    test->arena.used = before.used;
    return status;
}

// --- one case ----------------------------------------------------------------------

static ember_status_t start(const runner_t *runner, test_case_t *test,
                            uint32_t length) {
    test->result.stage = EMBER_BATCH_READ;
    uint8_t *record = test_case_take(test, length);
    if (record == NULL) {
        return ember_fail(&test->error, EMBER_NO_MEMORY,
                          "case: its program is larger than the memory");
    }
    memcpy(record, &test->head, sizeof(test->head));
    read_exactly(runner, record + sizeof(test->head), length - sizeof(test->head));
    test->result.stage = EMBER_BATCH_OPEN;
    ember_status_t status = test_case_open(test, record);
    if (status == EMBER_OK) {
        test->result.stage = EMBER_BATCH_LOAD;
        status = test_case_load(test);
    }
    return status;
}

static ember_status_t read_dead(const runner_t *runner, test_case_t *test,
                                test_method_t *loaded) {
    read_exactly(runner, &loaded->dead, sizeof(loaded->dead));
    const size_t size = loaded->dead.count * sizeof(*loaded->dead_ranges);
    loaded->dead_ranges = test_case_take(test, size);
    if (loaded->dead_ranges == NULL) {
        return ember_fail(&test->error, EMBER_NO_MEMORY,
                          "case: its dead ranges are larger than the memory");
    }
    read_exactly(runner, loaded->dead_ranges, size);
    return test_dead_check(test, loaded);
}

static ember_status_t read_watches(const runner_t *runner, test_case_t *test,
                                   test_method_t *loaded) {
    read_exactly(runner, &loaded->watch, sizeof(loaded->watch));
    const size_t size = loaded->watch.count * sizeof(*loaded->watches);
    loaded->watches = test_case_take(test, size);
    if (loaded->watches == NULL) {
        return ember_fail(&test->error, EMBER_NO_MEMORY,
                          "case: its watches are larger than the memory");
    }
    read_exactly(runner, loaded->watches, size);
    return EMBER_OK;
}

// Reads what a case with `flag` has for each method, from a record of its own.
static ember_status_t read_each(runner_t *runner, test_case_t *test,
                                ember_status_t status, uint32_t flag, uint32_t kind) {
    const bool asked = (test->head.flags & flag) != 0;
    for (uint32_t i = 0; asked && i < test->head.method_count; i++) {
        expect_record(runner, kind);
        if (status == EMBER_OK) {
            test_method_t *loaded = &test->methods[i];
            status = kind == EMBER_BATCH_DEAD ? read_dead(runner, test, loaded)
                                              : read_watches(runner, test, loaded);
        }
        end_record(runner);
    }
    return status;
}

static void finish(const runner_t *runner, test_case_t *test, ember_status_t status) {
    ember_batch_result_t *result = &test->result;
    const bool failed = status != EMBER_OK;
    const char *message = failed ? test->error.message : "";
    message = message != NULL ? message : ember_status_text(status);
    result->index = test->head.index;
    result->status = status;
    result->stage = failed ? result->stage : EMBER_BATCH_DONE;
    result->instruction = failed ? test->error.instruction : EMBER_NO_INSTRUCTION;
    result->message_length = (uint32_t)strlen(message);
    result->used = test->arena.peak + result->scratch;
    write_record(runner, EMBER_BATCH_RESULT, result, sizeof(*result), message);
}

static void run_case(runner_t *runner, uint32_t length) {
    test_case_t test = {
        .arena = {.data = runner->memory.data, .size = runner->memory.size},
        .error = {.instruction = EMBER_NO_INSTRUCTION},
        .result = {.needed = EMBER_BATCH_UNKNOWN},
    };
    ember_port_mark_begin(EMBER_MARK_CASE);
    read_exactly(runner, &test.head, sizeof(test.head));
    ember_status_t status = start(runner, &test, length);
    end_record(runner);
    status = read_each(runner, &test, status, EMBER_BATCH_POISON, EMBER_BATCH_DEAD);
    status = read_each(runner, &test, status, EMBER_BATCH_CAPTURE, EMBER_BATCH_WATCH);
    for (uint32_t i = 0; i < test.head.run_count; i++) {
        expect_record(runner, EMBER_BATCH_RUN);
        if (status == EMBER_OK) {
            test.result.which = i;
            status = run_once(runner, &test);
        }
        end_record(runner);
    }
    test_case_unload(&test);
    ember_port_mark_end(EMBER_MARK_CASE);
    finish(runner, &test, status);
}

// --- the stream --------------------------------------------------------------------

static void greet(runner_t *runner) {
    const ember_batch_head_t head = next_record(runner);
    ember_batch_hello_t hello = {0};
    if (head.kind == EMBER_BATCH_HELLO && head.length == sizeof(hello)) {
        read_exactly(runner, &hello, sizeof(hello));
    }
    if (hello.version != EMBER_BATCH_VERSION) {
        ember_port_panic("the stream of cases has an unsupported version");
    }
    hello.pointer = sizeof(void *);
    hello.memory = runner->memory.size;
    write_record(runner, EMBER_BATCH_HELLO, &hello, sizeof(hello), "");
}

static void open_streams(runner_t *runner) {
    char line[LINE_SIZE];
    (void)ember_port_arguments(line, sizeof(line));
    char *second = strchr(line, ' ');
    if (second == NULL) {
        ember_port_panic("usage: runner CASES RESULTS");
    }
    *second++ = '\0';
    runner->in = ember_port_open(line, EMBER_PORT_READ);
    runner->out = ember_port_open(second, EMBER_PORT_WRITE);
    if (runner->in < 0 || runner->out < 0) {
        ember_port_panic("cannot open the cases or the results");
    }
}

int main(void) {
    runner_t runner = {0};
    open_streams(&runner);
    runner.memory.data = ember_port_workspace(&runner.memory.size);
    greet(&runner);
    for (;;) {
        const ember_batch_head_t head = next_record(&runner);
        if (head.kind == EMBER_BATCH_END) {
            break;
        }
        if (head.kind != EMBER_BATCH_CASE) {
            ember_port_panic("the stream of cases is damaged");
        }
        run_case(&runner, head.length);
    }
    const ember_batch_end_t end = {ember_port_stack_size(), ember_port_stack_used()};
    write_record(&runner, EMBER_BATCH_END, &end, sizeof(end), "");
    ember_port_close(runner.out);
    return 0;
}
