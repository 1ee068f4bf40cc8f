// SPDX-License-Identifier: Apache-2.0
// What calls that are prepared again watch, and what memory they take.
#include "check.h"
#include "method_state.h"
#include "subject.h"
#include "toys.h"

static void start(subject_t *subject, const char *name) {
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    CHECK_EQ(subject_load(subject, "forward", &toy_registry), EMBER_OK);
    toy_prepares = 0;
}

static ember_status_t execute(subject_t *subject) {
    return ember_method_execute(&subject->method, &subject->error);
}

// The list has one item; behind it in the file is the index of the input.
static void nothing_behind_a_list_is_watched(void) {
    subject_t subject;
    start(&subject, "shorter_list.pte");
    for (int32_t size = 4; size > 0; size--) {
        CHECK_EQ(ember_method_resize_input(&subject.method, 0, 1, &size, NULL),
                 EMBER_OK);
        toy_prepares = 0;
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(toy_prepares <= 2); // the copy; its output may change once more
    }
    CHECK(subject.method.steps[0].run != ember_volatile_run);
    CHECK(subject.method.steps[1].run == ember_volatile_run);
    subject_close(&subject);
}

// Unlike a list, it refers to no other values.
static void a_moved_string_is_prepared_for_once(void) {
    subject_t subject;
    start(&subject, "moved_string.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(toy_prepares, 1);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(toy_prepares, 1);
    subject_close(&subject);
}

// Fields that this runtime does not know may be anywhere.
static void later_formats_may_say_more_of_what_is_freed(void) {
    subject_t subject;
    start(&subject, "freed_with_more.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    subject_close(&subject);
}

// --- a kernel without a state, and with one ------------------------------------------

static ember_status_t prepare(ember_node_t *node, void *state) {
    (void)state;
    return ember_node_status(node);
}

static int32_t run(void *state) {
    (void)state;
    return EMBER_OK;
}

static const ember_kernel_t without = {prepare, run, 0, "without"};
static const ember_kernel_t with = {prepare, run, 8, "with"};
static const ember_kernel_t *const list_without[] = {&without, NULL};
static const ember_kernel_t *const list_with[] = {&with, NULL};
static const ember_operator_t operator_without = {"toy::none", list_without, 0, 255, 0};
static const ember_operator_t operator_with = {"toy::none", list_with, 0, 255, 0};
static const ember_operators_t operators_without = {&operator_without, 1};
static const ember_operators_t operators_with = {&operator_with, 1};
static const ember_registry_t registry_without = {&operators_without, NULL,
                                                  &ember_changing};
static const ember_registry_t registry_with = {&operators_with, NULL, &ember_changing};

static size_t peak(const ember_registry_t *registry) {
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "stateless.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", registry), EMBER_OK);
    const size_t bytes = subject.method.arena.peak;
    subject_close(&subject);
    return bytes;
}

static void no_state_takes_no_memory(void) {
    CHECK_EQ(peak(&registry_without) + 8, peak(&registry_with));
}

// Where the kernel needs nothing, there is room for that in every arena.
static void every_arena_that_is_too_small_is_told(void) {
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "stateless.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &registry_without), EMBER_OK);
    const size_t need = subject.method.arena.peak;
    for (size_t size = 0; size < need; size++) {
        ember_method_t method;
        ember_memory_t memory = subject.memory;
        memory.method.size = size;
        CHECK_EQ(ember_method_load(&method, &subject.program, "forward",
                                   &registry_without, &memory, &subject.error),
                 EMBER_NO_MEMORY);
        CHECK_EQ(subject.error.status, EMBER_NO_MEMORY);
    }
    subject_close(&subject);
}

TESTS(TEST(nothing_behind_a_list_is_watched), TEST(a_moved_string_is_prepared_for_once),
      TEST(later_formats_may_say_more_of_what_is_freed), TEST(no_state_takes_no_memory),
      TEST(every_arena_that_is_too_small_is_told))
