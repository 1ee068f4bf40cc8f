// SPDX-License-Identifier: Apache-2.0
// Instructions that decide and move: branches, loops, moves, budgets and their trace.
#include <string.h>

#include "check.h"
#include "ember/event.h"
#include "subject.h"
#include "toys.h"

static ember_status_t load(subject_t *subject, const char *name) {
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    return subject_load(subject, "forward", &toy_registry);
}

static ember_status_t execute(subject_t *subject) {
    return ember_method_execute(&subject->method, &subject->error);
}

static void start(subject_t *subject, const char *name) {
    CHECK_EQ(load(subject, name), EMBER_OK);
    toy_prepares = toy_runs = 0;
}

static void set_bool(subject_t *subject, uint32_t index, bool value) {
    const ember_value_t given = {.kind = EMBER_BOOL, .as_bool = value};
    CHECK_EQ(ember_method_set_input(&subject->method, index, &given, &subject->error),
             EMBER_OK);
}

static void set_int(subject_t *subject, uint32_t index, int64_t value) {
    const ember_value_t given = {.kind = EMBER_INT, .as_int = value};
    CHECK_EQ(ember_method_set_input(&subject->method, index, &given, &subject->error),
             EMBER_OK);
}

static int64_t int_output(subject_t *subject, uint32_t index) {
    ember_value_t value;
    CHECK_EQ(ember_method_output(&subject->method, index, &value), EMBER_OK);
    CHECK_EQ(value.kind, EMBER_INT);
    return value.as_int;
}

// Prepares of the consumer: once at first; then, where its argument is a handle, at
// each change of branch (turns 1, 3, 4).
static void check_cond(const char *name, uint32_t prepares) {
    subject_t subject;
    start(&subject, name);
    bool *yes = (bool *)(void *)subject_input(&subject, 1);
    for (int turn = 0; turn < 6; turn++) {
        subject_input(&subject, 0)[0] = 3;
        subject_input(&subject, 0)[1] = 4;
        *yes = turn % 3 != 0;
        CHECK_EQ(execute(&subject), EMBER_OK);
        const float want = *yes ? 12 : 8;
        CHECK(subject_output(&subject, 0)[1] == want);
        CHECK(subject_output(&subject, 1)[1] == want - 4);
    }
    CHECK_EQ(toy_prepares, prepares);
    subject_close(&subject);
}

static void cond_takes_a_branch(void) {
    check_cond("cond.pte", 4);
    check_cond("cond_planned.pte", 1);
}

static void all_of_several_conditions_decide(void) {
    subject_t subject;
    start(&subject, "cond_of_three.pte");
    bool *yes = (bool *)(void *)subject_input(&subject, 1);
    for (uint32_t bits = 0; bits < 8; bits++) {
        subject_input(&subject, 0)[1] = 4;
        for (uint32_t i = 0; i < 3; i++) {
            yes[i] = (bits >> i & 1) != 0;
        }
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[1] == (bits == 7 ? 12 : 8));
    }
    subject_close(&subject);
}

static void scalar_inputs_decide_and_count(void) {
    subject_t subject;
    start(&subject, "bool_input.pte");
    set_bool(&subject, 0, true);
    set_int(&subject, 1, 10);
    set_int(&subject, 2, 5);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(int_output(&subject, 1), 11);
    CHECK(subject_output(&subject, 0)[0] == 11);
    set_bool(&subject, 0, false);
    set_int(&subject, 1, 20);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(int_output(&subject, 1), 20);
    CHECK(subject_output(&subject, 0)[0] == 20);
    const ember_value_t six = {.kind = EMBER_INT, .as_int = 6};
    CHECK_EQ(ember_method_set_input(&subject.method, 2, &six, &subject.error),
             EMBER_BAD_ARGUMENT);
    subject_close(&subject);
}

static void loops_loop(void) {
    subject_t subject;
    start(&subject, "loop.pte");
    for (int n = 0; n < 5; n++) {
        set_int(&subject, 0, n);
        subject_input(&subject, 1)[0] = 1;
        subject_input(&subject, 1)[1] = 2;
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[1] == (float)(2 * n));
        CHECK_EQ(int_output(&subject, 1), n);
        ember_method_reset(&subject.method); // scalars are no states
        CHECK_EQ(int_output(&subject, 1), n);
    }
    subject_close(&subject);
}

static void bind(subject_t *subject, uint32_t index, float *data) {
    static const int32_t two = 2;
    const ember_value_t given = {
        .kind = EMBER_TENSOR,
        .as_tensor = {.data = data, .sizes = &two, .rank = 1, .dtype = EMBER_F32}};
    CHECK_EQ(ember_method_set_input(&subject->method, index, &given, NULL), EMBER_OK);
}

static void loops_can_swap(void) {
    static const char *const names[] = {"swap_loop.pte", "swap_handles.pte"};
    for (int which = 0; which < 2; which++) {
        subject_t subject;
        start(&subject, names[which]);
        for (int n = 0; n < 6; n++) {
            float a[2] = {1, 1}, b[2] = {2, 2};
            set_int(&subject, 0, n);
            bind(&subject, 1, a);
            bind(&subject, 2, b);
            CHECK_EQ(execute(&subject), EMBER_OK);
            CHECK(subject_output(&subject, 0)[0] == (float)(1 + n % 2));
        }
        subject_close(&subject);
    }
}

static void moves_keep_what_they_moved(void) {
    subject_t subject;
    start(&subject, "shared_branches.pte");
    for (int turn = 0; turn < 2; turn++) {
        subject_input(&subject, 0)[0] = 1;
        subject_input(&subject, 1)[0] = 10;
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[0] == 11);
        CHECK(subject_output(&subject, 1)[0] == 1);
    }
    subject_close(&subject);
    start(&subject, "dynamic_move.pte");
    for (int32_t n = 4; n >= 0; n--) {
        ember_value_t value;
        CHECK_EQ(ember_method_resize_input(&subject.method, 0, 1, &n, NULL), EMBER_OK);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK_EQ(ember_method_output(&subject.method, 0, &value), EMBER_OK);
        CHECK_EQ(value.as_tensor.numel, n);
    }
    subject_close(&subject);
}

static void budget_stops_loops(void) {
    subject_t subject;
    start(&subject, "endless.pte");
    ember_method_set_budget(&subject.method, 1000 * subject.method.work);
    CHECK_EQ(execute(&subject), EMBER_BUDGET);
    CHECK_EQ(subject.error.status, EMBER_BUDGET);
    CHECK(toy_runs >= 900 && toy_runs <= 1100);
    subject_close(&subject);
    start(&subject, "loop.pte");
    ember_method_set_budget(&subject.method,
                            20 * (subject.method.work + subject.method.volatile_work));
    set_int(&subject, 0, 10);
    CHECK_EQ(execute(&subject), EMBER_OK);
    set_int(&subject, 0, 1000);
    CHECK_EQ(execute(&subject), EMBER_BUDGET);
    set_int(&subject, 0, 2);
    CHECK_EQ(execute(&subject), EMBER_OK);
    subject_close(&subject);
}

// What is charged is known before anything runs, and a branch that is left out is given
// back.
static void budgets_are_charged_before(void) {
    subject_t subject;
    start(&subject, "cond.pte");
    ember_method_t *method = &subject.method;
    bool *yes = (bool *)(void *)subject_input(&subject, 1);
    const uint64_t work = method->work;
    uint64_t charged[2];
    ember_method_set_budget(method, work - 1);
    CHECK_EQ(execute(&subject), EMBER_BUDGET);
    CHECK_EQ(subject.error.instruction, EMBER_NO_INSTRUCTION);
    CHECK_EQ(toy_runs, 0);
    ember_method_set_budget(method, 10 * (work + method->volatile_work));
    for (int branch = 0; branch < 2; branch++) {
        *yes = branch == 1;
        CHECK_EQ(execute(&subject), EMBER_OK);
        charged[branch] = method->budget - method->left;
        CHECK(charged[branch] > 0 && charged[branch] < work + method->volatile_work);
    }
    ember_method_set_budget(method, charged[1] > work ? charged[1] : work);
    CHECK_EQ(execute(&subject), EMBER_OK);
    ember_method_set_budget(method, 0);
    CHECK_EQ(execute(&subject), EMBER_OK);
    subject_close(&subject);
}

static void moves_copy_handles(void) {
    subject_t subject;
    start(&subject, "moves.pte");
    for (int turn = 1; turn < 4; turn++) {
        subject_input(&subject, 0)[0] = 1;
        subject_input(&subject, 1)[0] = 10;
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[0] == 11);
        CHECK(subject_output(&subject, 1) == subject_input(&subject, 0));
        CHECK(subject_output(&subject, 2) == subject_input(&subject, 1));
        CHECK_EQ(int_output(&subject, 3), 3 + turn);
        CHECK_EQ(int_output(&subject, 4), 4 + turn);
    }
    subject_close(&subject);
}

// --- tracing -------------------------------------------------------------------------

typedef struct trace {
    uint32_t begun[64];
    uint32_t count;
    uint32_t ended;
    ember_status_t last;
} trace_t;

static void trace_begin(void *context, uint32_t instruction) {
    trace_t *trace = context;
    if (trace->count < 64) {
        trace->begun[trace->count] = instruction;
    }
    trace->count++;
}

static void trace_end(void *context, uint32_t instruction, ember_status_t status) {
    trace_t *trace = context;
    CHECK(trace->count > 64 || trace->begun[trace->count - 1] == instruction);
    trace->ended++;
    trace->last = status;
}

// Values as they are between instructions, with slots and without.
static void hooks_look_at_values(void) {
    subject_t subject;
    ember_value_t value;
    ember_value_t input;
    start(&subject, "loop.pte");
    set_int(&subject, 0, 2);
    subject_input(&subject, 1)[0] = 3;
    uint32_t ints = 0;
    uint32_t seen = 0;
    uint32_t index = 0;
    CHECK_EQ(ember_method_input(&subject.method, 1, &input), EMBER_OK);
    for (; ember_method_look(&subject.method, index, &value) == EMBER_OK; index++) {
        ints += value.kind == EMBER_INT && value.as_int == 2;
        seen += value.kind == EMBER_TENSOR &&
                value.as_tensor.data == input.as_tensor.data &&
                *(const float *)value.as_tensor.data == 3;
    }
    CHECK(index > 2);
    CHECK(ints > 0);
    CHECK(seen > 0);
    CHECK_EQ(ember_method_look(&subject.method, index, &value), EMBER_BAD_ARGUMENT);
    subject_close(&subject);
}

static void tracing_changes_nothing(void) {
    static const uint32_t want[] = {0, 1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 2, 3};
    trace_t trace = {.count = 0};
    const ember_tracer_t tracer = {trace_begin, trace_end, &trace};
    subject_t subject;
    start(&subject, "loop.pte");
    set_int(&subject, 0, 2);
    subject_input(&subject, 1)[0] = 3;
    CHECK_EQ(ember_method_execute_traced(&subject.method, &tracer, &subject.error),
             EMBER_OK);
    CHECK(subject_output(&subject, 0)[0] == 6);
    CHECK_EQ(trace.count, sizeof(want) / 4);
    CHECK_EQ(trace.ended, trace.count);
    CHECK(memcmp(trace.begun, want, sizeof(want)) == 0);
    static const ember_event_kind_t kinds[] = {
        EMBER_EVENT_MOVE,       EMBER_EVENT_KERNEL, EMBER_EVENT_KERNEL,
        EMBER_EVENT_JUMP_FALSE, EMBER_EVENT_KERNEL, EMBER_EVENT_KERNEL,
        EMBER_EVENT_JUMP_FALSE};
    for (uint32_t i = 0; i < 7; i++) {
        CHECK_EQ(ember_method_instruction_kind(&subject.method, i), kinds[i]);
    }
    ember_method_set_budget(&subject.method, 20);
    set_int(&subject, 0, 100);
    CHECK_EQ(ember_method_execute_traced(&subject.method, &tracer, NULL), EMBER_BUDGET);
    subject_close(&subject);

    start(&subject, "fail_run.pte");
    trace.count = trace.ended = 0;
    CHECK_EQ(ember_method_execute_traced(&subject.method, &tracer, &subject.error),
             EMBER_DATA_RANGE);
    CHECK_EQ(subject.error.instruction, 2);
    CHECK_EQ(trace.last, EMBER_DATA_RANGE);
    CHECK_EQ(trace.ended, 3);
    subject_close(&subject);
}

TESTS(TEST(cond_takes_a_branch), TEST(all_of_several_conditions_decide),
      TEST(scalar_inputs_decide_and_count), TEST(loops_loop), TEST(loops_can_swap),
      TEST(moves_keep_what_they_moved), TEST(budget_stops_loops),
      TEST(budgets_are_charged_before), TEST(moves_copy_handles),
      TEST(tracing_changes_nothing), TEST(hooks_look_at_values))
