// SPDX-License-Identifier: Apache-2.0
// Loading in a build that lacks the parts for methods in which something can change.
#include <string.h>

#include "check.h"
#include "subject.h"
#include "toys.h"

static const ember_registry_t fixed = {&toy_operators, NULL, NULL};

static ember_status_t load(subject_t *subject, const char *name) {
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    return subject_load(subject, "forward", &fixed);
}

static void fixed_methods_need_no_parts(void) {
    static const char *const names[] = {"add.pte", "constants.pte",
                                        "constants_inline.pte", "layouts.pte",
                                        "memories.pte"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        subject_t subject;
        const ember_status_t status = load(&subject, names[i]);
        CHECK_EQ(status, EMBER_OK);
        if (status == EMBER_OK) {
            CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_OK);
            subject_close(&subject);
        }
    }
}

static void others_are_refused(void) {
    static const char *const names[] = {
        "bool_input.pte", "bound_by_caller.pte", "cond.pte",      "counter.pte",
        "copy_index.pte", "empty_tensors.pte",   "delegates.pte", "dynamic.pte",
        "loop.pte",       "move_input.pte",      "moves.pte",     "positive.pte",
        "views.pte",      "scalars.pte"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        subject_t subject;
        CHECK_EQ(load(&subject, names[i]), EMBER_UNSUPPORTED);
        CHECK_EQ(subject.error.instruction, EMBER_NO_INSTRUCTION);
#if EMBER_ERROR_STRINGS
        CHECK(strncmp(subject.error.message, "method: something in it can change",
                      34) == 0);
#endif
    }
}

static void other_failures_stay_what_they_are(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "fail_prepare.pte"), EMBER_BAD_PROGRAM);
    CHECK(subject.error.instruction != EMBER_NO_INSTRUCTION);
    CHECK_EQ(load(&subject, "unknown_operator.pte"), EMBER_UNSUPPORTED);
    CHECK(subject.error.instruction != EMBER_NO_INSTRUCTION);
}

TESTS(TEST(fixed_methods_need_no_parts), TEST(others_are_refused),
      TEST(other_failures_stay_what_they_are))
