// SPDX-License-Identifier: Apache-2.0
// Loading and executing methods: arenas, states, data files, failures.
#include <string.h>

#include "check.h"
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

static void fixed_nodes_are_prepared_once(void) {
    subject_t subject;
    toy_prepares = 0;
    CHECK_EQ(load(&subject, "add.pte"), EMBER_OK);
    CHECK_EQ(toy_prepares, 2); // the subject loads twice
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 6; i++) {
            subject_input(&subject, 0)[i] = (float)i;
            subject_input(&subject, 1)[i] = (float)turn;
        }
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[5] == (float)(5 + turn));
    }
    CHECK_EQ(toy_prepares, 2);
    CHECK_EQ(subject.method.slot_count, 0);
    subject_close(&subject);
}

static void constants_are_read_in_place(void) {
    static const char *const names[] = {"constants.pte", "constants_inline.pte"};
    for (int i = 0; i < 2; i++) {
        subject_t subject;
        start(&subject, names[i]);
        subject_input(&subject, 0)[0] = 100;
        subject_input(&subject, 0)[1] = 200;
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[0] == 111);
        CHECK(subject_output(&subject, 0)[1] == 222);
        subject_close(&subject);
    }
}

static void kernels_of_a_chain(void) {
    subject_t subject;
    start(&subject, "fixed_chain.pte");
    subject_input(&subject, 0)[0] = 5;
    subject_input(&subject, 0)[1] = 6;
    int64_t *index = (int64_t *)(void *)subject_input(&subject, 1);
    index[0] = 1;
    index[1] = 0;
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[0] == 6 && subject_output(&subject, 0)[1] == 5);
    CHECK(subject_output(&subject, 1)[0] == 11 && subject_output(&subject, 1)[1] == 11);
    CHECK(subject_output(&subject, 2)[0] == 7.5f &&
          subject_output(&subject, 3)[0] == 5);
    CHECK_EQ(toy_prepares, 0);
    index[1] = 2;
    CHECK_EQ(execute(&subject), EMBER_DATA_RANGE);
    CHECK_EQ(subject.error.status, EMBER_DATA_RANGE);
    CHECK_EQ(subject.error.instruction, 2);
    index[1] = -1;
    CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_DATA_RANGE);
    subject_close(&subject);
}

static void failures_name_their_instruction(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "fail_prepare.pte"), EMBER_BAD_PROGRAM);
    CHECK_EQ(subject.error.instruction, 2);
    CHECK_EQ(subject.error.status, EMBER_BAD_PROGRAM);
#if EMBER_ERROR_STRINGS
    CHECK(strcmp(subject.error.message, "toy: the first failure") == 0);
#endif
    CHECK_EQ(load(&subject, "fail_silent.pte"), EMBER_BAD_PROGRAM);
    CHECK_EQ(subject.error.instruction, 2);
    CHECK_EQ(subject.error.status, EMBER_BAD_PROGRAM);
    CHECK_EQ(load(&subject, "refuse.pte"), EMBER_UNSUPPORTED);
    CHECK_EQ(subject.error.instruction, 2);
    CHECK_EQ(load(&subject, "unknown_operator.pte"), EMBER_UNSUPPORTED);
    CHECK_EQ(subject.error.instruction, 1);
    CHECK_EQ(load(&subject, "arguments.pte"), EMBER_BAD_PROGRAM);
    CHECK_EQ(subject.error.instruction, 0);
    CHECK_EQ(load(&subject, "stale_error.pte"), EMBER_BAD_PROGRAM);
    CHECK_EQ(subject.error.instruction, 1);
#if EMBER_ERROR_STRINGS
    CHECK(subject.error.message == NULL ||
          strstr(subject.error.message, "output") == NULL);
#endif
    start(&subject, "fail_run.pte");
    CHECK_EQ(execute(&subject), EMBER_DATA_RANGE);
    CHECK_EQ(subject.error.instruction, 2);
    CHECK_EQ(subject_load(&subject, "backward", &toy_registry), EMBER_NOT_FOUND);
    CHECK_EQ(subject.error.status, EMBER_NOT_FOUND);
    subject_close(&subject);
}

static void initial_states_are_loaded(void) {
    subject_t subject;
    start(&subject, "counter.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[0] == 4 && subject_output(&subject, 0)[1] == 5);
    CHECK(subject_output(&subject, 1)[0] == 31 && subject_output(&subject, 1)[1] == 41);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[0] == 5 && subject_output(&subject, 1)[1] == 42);
    CHECK(subject_output(&subject, 2)[0] == 50 && subject_output(&subject, 2)[1] == 60);
    subject_close(&subject);
}

static void states_start_again(void) {
    subject_t subject;
    start(&subject, "counter.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    ember_method_reset(&subject.method);
    CHECK_EQ(toy_runs, 4);
    CHECK(subject_output(&subject, 0)[0] == 3 && subject_output(&subject, 0)[1] == 4);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[0] == 4 && subject_output(&subject, 0)[1] == 5);
    CHECK(subject_output(&subject, 1)[0] == 31 && subject_output(&subject, 1)[1] == 41);
    CHECK(subject_output(&subject, 2)[0] == 50 && subject_output(&subject, 2)[1] == 60);
    subject_close(&subject);
}

static void all_memories_are_cleared(void) {
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "methods.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "increase", &toy_registry), EMBER_OK);
    for (uint32_t turn = 0; turn < 2; turn++) {
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[1] == 2); // a state in the second memory
        ember_method_reset(&subject.method);
    }
    subject_close(&subject);
}

static void what_is_cleared_can_be_told(void) {
    subject_t subject;
    start(&subject, "add.pte");
    subject_input(&subject, 0)[0] = 7;
    const ember_span_t none = {NULL, 0};
    subject.method.cleared = &none;
    subject.method.cleared_count = 1;
    ember_method_reset(&subject.method);
    CHECK(subject_input(&subject, 0)[0] == 7);
    const ember_span_t input = {subject_input(&subject, 0), sizeof(float)};
    subject_input(&subject, 0)[1] = 8;
    subject.method.cleared = &input;
    ember_method_reset(&subject.method);
    CHECK(subject_input(&subject, 0)[0] == 0 && subject_input(&subject, 0)[1] == 8);
    subject.method.cleared = NULL;
    ember_method_reset(&subject.method);
    CHECK(subject_input(&subject, 0)[1] == 0);
    subject_close(&subject);
}

static void lent_states_stay(void) {
    subject_t subject;
    float total[2] = {1, 2};
    start(&subject, "attribute.pte");
    CHECK_EQ(ember_method_set_attribute(&subject.method, "count.total", total,
                                        sizeof(total), NULL),
             EMBER_OK);
    ember_method_reset(&subject.method);
    CHECK(total[0] == 1 && total[1] == 2);
    subject_close(&subject);
}

static void external_data_is_found(void) {
    static ember_data_map_t maps[2];
    subject_t subject;
    CHECK_EQ(load(&subject, "external.pte"), EMBER_NOT_FOUND);

    ember_bytes_t file = test_file("external_other.ptd");
    CHECK_EQ(ember_data_map_open(&maps[0], file.data, file.size, NULL), EMBER_OK);
    ember_program_attach(&subject.program, maps, 1);
    // Another shape does not match: an error that is not success, whatever its name.
    CHECK(subject_load(&subject, "forward", &toy_registry) != EMBER_OK);

    file = test_file("external.ptd");
    CHECK_EQ(ember_data_map_open(&maps[0], file.data, file.size, NULL), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    subject_input(&subject, 0)[0] = 1;
    subject_input(&subject, 0)[1] = 2;
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[0] == 101 &&
          subject_output(&subject, 0)[1] == 202);
    CHECK(subject_output(&subject, 1)[0] == 106 &&
          subject_output(&subject, 1)[1] == 208);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 1)[0] == 207);
    ember_method_reset(&subject.method);
    CHECK(subject_output(&subject, 1)[0] == 5 && subject_output(&subject, 1)[1] == 6);
    float other[2] = {0};
    CHECK_EQ(ember_method_set_attribute(&subject.method, "w", other, 8, NULL),
             EMBER_BAD_ARGUMENT); // a constant
    ember_bytes_t found;
    CHECK_EQ(ember_program_named_data(&subject.program, "w", 1, &found), EMBER_OK);
    CHECK_EQ(found.size, 8); // whatever tensor it is
    subject_close(&subject);
}

static void external_data_lies_as_declared(void) {
    static ember_data_map_t map;
    subject_t subject;
    const ember_bytes_t file = test_file("external_turned.ptd");
    CHECK_EQ(load(&subject, "external_square.pte"), EMBER_NOT_FOUND);
    CHECK_EQ(ember_data_map_open(&map, file.data, file.size, NULL), EMBER_OK);
    ember_program_attach(&subject.program, &map, 1);
    CHECK(subject_load(&subject, "forward", &toy_registry) != EMBER_OK);
}

static void methods_share_memory(void) {
    subject_t first, second;
    CHECK_EQ(subject_open(&first, "methods.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&first, "increase", &toy_registry), EMBER_OK);
    second = first;
    ember_memory_t memory = first.memory;
    memory.method = (ember_arena_t){.data = test_alloc(4096), .size = 4096};
    CHECK_EQ(ember_method_load(&second.method, &first.program, "read", &toy_registry,
                               &memory, NULL),
             EMBER_OK);
    CHECK_EQ(execute(&first), EMBER_OK);
    CHECK_EQ(execute(&first), EMBER_OK);
    CHECK_EQ(execute(&second), EMBER_OK);
    CHECK(subject_output(&second, 0)[0] == 2);
    test_free(memory.method.data);
    subject_close(&first);
}

static void memories_are_checked(void) {
    subject_t subject;
    start(&subject, "memories.pte");
    subject_input(&subject, 0)[1] = 2;
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[1] == 6);

    ember_method_t method;
    ember_memory_t memory = subject.memory;
    memory.planned_count = 2;
    CHECK_EQ(ember_method_load(&method, &subject.program, "forward", &toy_registry,
                               &memory, NULL),
             EMBER_NO_MEMORY);
    memory.planned_count = 3;
    subject.planned[2].size--;
    CHECK_EQ(ember_method_load(&method, &subject.program, "forward", &toy_registry,
                               &memory, NULL),
             EMBER_NO_MEMORY);
    subject.planned[2].size++;
    uint8_t *data = subject.planned[0].data;
    subject.planned[0].data = data + 4;
    CHECK_EQ(ember_method_load(&method, &subject.program, "forward", &toy_registry,
                               &memory, NULL),
             EMBER_BAD_ARGUMENT);
    subject.planned[0].data = data;
    subject_close(&subject);
}

// Every arena that is too small is refused, whatever is allocated last.
static void small_arenas_are_refused(void) {
    static const char *const names[] = {"loop.pte", "views.pte", "fixed_chain.pte"};
    for (int i = 0; i < 3; i++) {
        subject_t subject;
        start(&subject, names[i]);
        const size_t enough = subject.method.arena.peak;
        for (size_t size = 0; size <= enough; size++) {
            ember_method_t method;
            ember_memory_t memory = subject.memory;
            memory.method =
                (ember_arena_t){.data = test_alloc(size + (size == 0)), .size = size};
            CHECK_EQ(ember_method_load(&method, &subject.program, "forward",
                                       &toy_registry, &memory, NULL),
                     size < enough ? EMBER_NO_MEMORY : EMBER_OK);
            test_free(memory.method.data);
        }
        subject_close(&subject);
    }
}

static void scratch_is_refused(void) {
    subject_t subject;
    start(&subject, "bounded_scratch.pte");
    CHECK_EQ(subject.method.temp_used, 256);
    ember_method_t method;
    ember_memory_t memory = subject.memory;
    memory.method = (ember_arena_t){.data = test_alloc(4096), .size = 4096};
    memory.temp.size = 255;
    CHECK_EQ(ember_method_load(&method, &subject.program, "forward", &toy_registry,
                               &memory, &subject.error),
             EMBER_NO_MEMORY);
    CHECK_EQ(method.temp_used, 256);
    test_free(memory.method.data);
    subject_close(&subject);
}

static void empty_methods_execute(void) {
    subject_t subject;
    start(&subject, "empty.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    ember_value_t value;
    CHECK_EQ(ember_method_output(&subject.method, 0, &value), EMBER_OK);
    CHECK_EQ(value.as_tensor.numel, 0);
    CHECK_EQ(ember_method_output(&subject.method, 1, &value), EMBER_OK);
    CHECK(value.as_tensor.numel == 1 && value.as_tensor.rank == 0);
    CHECK_EQ(ember_method_output(&subject.method, 2, &value), EMBER_BAD_ARGUMENT);
    subject_close(&subject);
}

static void tensors_without_elements(void) {
    subject_t subject;
    start(&subject, "empty_tensors.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    subject_close(&subject);
}

static void constants_are_not_written(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "view_constant.pte"), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_BAD_PROGRAM);
    CHECK_EQ(subject.error.instruction, 1);
    subject_close(&subject);
}

TESTS(TEST(fixed_nodes_are_prepared_once), TEST(constants_are_read_in_place),
      TEST(kernels_of_a_chain), TEST(failures_name_their_instruction),
      TEST(initial_states_are_loaded), TEST(external_data_is_found),
      TEST(external_data_lies_as_declared), TEST(states_start_again),
      TEST(all_memories_are_cleared), TEST(what_is_cleared_can_be_told),
      TEST(lent_states_stay), TEST(methods_share_memory), TEST(memories_are_checked),
      TEST(small_arenas_are_refused), TEST(scratch_is_refused),
      TEST(empty_methods_execute), TEST(tensors_without_elements),
      TEST(constants_are_not_written))
