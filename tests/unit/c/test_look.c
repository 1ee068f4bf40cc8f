// SPDX-License-Identifier: Apache-2.0
// What hooks see of values, and tensors that are in a call's scratch.
#include "check.h"
#include "ember/event.h"
#include "subject.h"
#include "toys.h"

enum { ROOM = 4096 };

static void start(subject_t *subject, const char *name) {
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    CHECK_EQ(subject_load(subject, "forward", &toy_registry), EMBER_OK);
}

static ember_value_t look(subject_t *subject, uint32_t index) {
    ember_value_t value = {.kind = EMBER_NONE};
    CHECK_EQ(ember_method_look(&subject->method, index, &value), EMBER_OK);
    return value;
}

static void values_are_seen_as_they_are(void) {
    subject_t subject;
    ember_value_t value;
    start(&subject, "constants.pte");
    value = look(&subject, 0);
    CHECK(value.kind == EMBER_TENSOR && value.as_tensor.data != NULL);
    value = look(&subject, 1); // a constant
    CHECK(value.kind == EMBER_TENSOR && value.as_tensor.data == NULL);
    CHECK_EQ(ember_method_look(&subject.method, 1000, &value), EMBER_BAD_ARGUMENT);
    const uint32_t count = subject.method.meta.value_count;
    CHECK_EQ(ember_method_look(&subject.method, count, &value), EMBER_BAD_ARGUMENT);
    subject_close(&subject);
    start(&subject, "kinds.pte");
    value = look(&subject, 2);
    CHECK(value.kind == EMBER_INT && value.as_int == 3);
    value = look(&subject, 3);
    CHECK(value.kind == EMBER_INT && value.as_int == -((int64_t)1 << 40));
    subject_close(&subject);
}

static void values_that_change_are_seen(void) {
    subject_t subject;
    uint32_t kinds[EMBER_DOUBLE + 2] = {0};
    start(&subject, "changing.pte");
    for (uint32_t i = 0; i < 8; i++) {
        const ember_value_t value = look(&subject, i);
        kinds[value.kind <= EMBER_DOUBLE ? value.kind : EMBER_DOUBLE + 1]++;
    }
    CHECK_EQ(kinds[EMBER_TENSOR] > 0, 1);
    CHECK(kinds[EMBER_INT] > 0 && kinds[EMBER_BOOL] == 1);
    CHECK_EQ(look(&subject, 1).as_int, 3);
    CHECK_EQ(look(&subject, 0).as_tensor.sizes[0], 4);
    subject_close(&subject);
}

static void prepared_methods_have_no_values(void) {
    subject_t subject;
    ember_value_t value;
    start(&subject, "add.pte");
    subject.method.prepared = (const void *)&subject;
    CHECK_EQ(ember_method_look(&subject.method, 0, &value), EMBER_BAD_ARGUMENT);
    subject.method.prepared = NULL;
    subject_close(&subject);
}

static ember_status_t load_with_scratch(subject_t *subject, uint8_t *at, size_t size) {
    ember_method_t method;
    ember_memory_t memory = subject->memory;
    memory.temp = (ember_span_t){at, size};
    memory.method = (ember_arena_t){.data = test_alloc(ROOM), .size = ROOM};
    const ember_status_t status = ember_method_load(
        &method, &subject->program, "forward", &toy_registry, &memory, &subject->error);
    ember_method_unload(&method);
    test_free(memory.method.data);
    return status;
}

static void scratch_is_nobodys_memory(void) {
    subject_t subject;
    start(&subject, "add.pte");
    uint8_t *planned = subject.planned[0].data;
    const size_t all = subject.planned[0].size;
    CHECK_EQ(load_with_scratch(&subject, planned + all, 16), EMBER_OK);
    CHECK_EQ(load_with_scratch(&subject, planned, 0), EMBER_OK);
    CHECK_EQ(load_with_scratch(&subject, planned, 16), EMBER_BAD_PROGRAM);
    CHECK_EQ(load_with_scratch(&subject, planned + 8, 16), EMBER_BAD_PROGRAM);
    CHECK_EQ(load_with_scratch(&subject, planned - 8, 16), EMBER_BAD_PROGRAM);
    CHECK_EQ(load_with_scratch(&subject, planned - 16, 16), EMBER_OK);
    CHECK_EQ(load_with_scratch(&subject, planned + 24, 8), EMBER_OK); // between two
    subject_close(&subject);
    start(&subject, "empty_tensors.pte"); // which have no bytes anywhere
    planned = subject.planned[0].data;
    CHECK_EQ(load_with_scratch(&subject, planned - 8, 16), EMBER_OK);
    subject_close(&subject);
}

TESTS(TEST(values_are_seen_as_they_are), TEST(values_that_change_are_seen),
      TEST(prepared_methods_have_no_values), TEST(scratch_is_nobodys_memory))
