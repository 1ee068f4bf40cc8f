// SPDX-License-Identifier: Apache-2.0
// Opening programs and data files, and what they say without loading.
#include <string.h>

#include "check.h"
#include "subject.h"
#include "toys.h"

static void opens_with_and_without_header(void) {
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "add.pte"), EMBER_OK);
    CHECK_EQ(subject.program.segments.size, 0);
    CHECK_EQ(subject_open(&subject, "constants.pte"), EMBER_OK);
    CHECK(subject.program.segments.size > 0);
    CHECK_EQ(subject_open(&subject, "constants_inline.pte"), EMBER_OK);
}

static void refuses_what_is_no_program(void) {
    static _Alignas(16) uint8_t zeros[64];
    ember_program_t program;
    ember_error_t error = {EMBER_OK, 0, NULL};
    CHECK_EQ(ember_program_open(&program, NULL, 0, &error), EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_program_open(&program, zeros + 4, 60, &error), EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_program_open(&program, zeros, 0, &error), EMBER_BAD_PROGRAM);
    CHECK_EQ(ember_program_open(&program, zeros, 7, NULL), EMBER_BAD_PROGRAM);
    CHECK_EQ(ember_program_open(&program, zeros, 64, &error), EMBER_UNSUPPORTED);
    CHECK_EQ(error.status, EMBER_UNSUPPORTED);
    CHECK_EQ(error.instruction, EMBER_NO_INSTRUCTION);
#if EMBER_ERROR_STRINGS
    CHECK(error.message != NULL);
#else
    CHECK(error.message == NULL);
#endif
    memcpy(zeros + 4, "ET13", 4);
    CHECK_EQ(ember_program_open(&program, zeros, 64, &error), EMBER_UNSUPPORTED);
    memcpy(zeros + 4, "ET12", 4);
    CHECK_EQ(ember_program_open(&program, zeros, 64, &error), EMBER_BAD_PROGRAM);
}

// Every truncation is refused when it is opened or loaded or, in padding behind the
// last table, harmless.
static void truncations_are_refused(void) {
    static const char *const names[] = {"add.pte", "constants.pte", "counter.pte"};
    for (size_t i = 0; i < 3; i++) {
        const ember_bytes_t whole = test_file(names[i]);
        uint32_t loaded = 0;
        for (size_t size = 0; size < whole.size; size++) {
            subject_t subject;
            void *part = test_alloc(size + (size == 0));
            memcpy(part, whole.data, size);
            if (subject_open_bytes(&subject, (ember_bytes_t){part, size}) == EMBER_OK) {
                loaded += subject_load(&subject, "forward", &toy_registry) == EMBER_OK;
                subject_close(&subject);
            }
            test_free(part);
        }
        CHECK(loaded < 16);
    }
}

static void meta_describes_methods(void) {
    subject_t subject;
    ember_method_meta_t meta;
    uint32_t length;
    CHECK_EQ(subject_open(&subject, "methods.pte"), EMBER_OK);
    CHECK_EQ(ember_program_method_count(&subject.program), 2);
    CHECK(memcmp(ember_program_method_name(&subject.program, 1, &length), "read", 4) ==
          0);
    CHECK_EQ(length, 4);
    CHECK(ember_program_method_name(&subject.program, 2, &length) == NULL);
    CHECK_EQ(ember_method_meta(&subject.program, "rea", &meta, &subject.error),
             EMBER_NOT_FOUND);
    CHECK(!EMBER_ERROR_STRINGS ||
          strcmp(subject.error.message, "program: no method of that name") == 0);
    CHECK_EQ(ember_method_meta(&subject.program, "reader", &meta, NULL),
             EMBER_NOT_FOUND);
    CHECK_EQ(ember_method_meta(&subject.program, "", &meta, NULL), EMBER_NOT_FOUND);
    CHECK_EQ(ember_method_meta(&subject.program, "read", &meta, NULL), EMBER_OK);
    CHECK_EQ(meta.input_count, 0);
    CHECK_EQ(meta.output_count, 1);
    CHECK_EQ(meta.instruction_count, 1);
    CHECK_EQ(meta.planned_count, 2);
    CHECK_EQ(ember_method_meta_planned_size(&meta, 1), 32);
    CHECK_EQ(ember_method_meta_planned_size(&meta, 2), 16);
    CHECK_EQ(ember_method_meta_planned_size(&meta, 3), 0);
}

static void meta_describes_inputs(void) {
    subject_t subject;
    ember_method_meta_t meta;
    ember_value_t value;
    bool planned;
    CHECK_EQ(subject_open(&subject, "layouts.pte"), EMBER_OK);
    CHECK_EQ(ember_method_meta(&subject.program, "forward", &meta, NULL), EMBER_OK);
    CHECK_EQ(ember_method_meta_input(&meta, 0, &value, &planned), EMBER_OK);
    CHECK(planned && value.kind == EMBER_TENSOR && value.as_tensor.data == NULL);
    CHECK(value.as_tensor.dtype == EMBER_F32 && value.as_tensor.rank == 4);
    CHECK(value.as_tensor.sizes[3] == 4 && value.as_tensor.dim_order[3] == 1);
    CHECK_EQ(value.as_tensor.numel, 24);
    CHECK_EQ(ember_method_meta_input(&meta, 1, &value, &planned), EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_meta_output(&meta, 0, &value, &planned), EMBER_OK);
    CHECK_EQ(ember_method_meta_output(&meta, 1, &value, &planned), EMBER_BAD_ARGUMENT);

    CHECK_EQ(subject_open(&subject, "bound_by_caller.pte"), EMBER_OK);
    CHECK_EQ(ember_method_meta(&subject.program, "forward", &meta, NULL), EMBER_OK);
    CHECK_EQ(ember_method_meta_input(&meta, 1, &value, &planned), EMBER_OK);
    CHECK(!planned);

    CHECK_EQ(subject_open(&subject, "scalars.pte"), EMBER_OK);
    CHECK_EQ(ember_method_meta(&subject.program, "forward", &meta, NULL), EMBER_OK);
    CHECK_EQ(ember_method_meta_input(&meta, 0, &value, &planned), EMBER_OK);
    CHECK(value.kind == EMBER_INT && value.as_int == 1);
    CHECK_EQ(ember_method_meta_input(&meta, 1, &value, &planned), EMBER_OK);
    CHECK(value.kind == EMBER_DOUBLE && value.as_double == 0.5);
    CHECK_EQ(ember_method_meta_input(&meta, 2, &value, &planned), EMBER_OK);
    CHECK(value.kind == EMBER_BOOL && value.as_bool);
    CHECK_EQ(ember_method_meta_input(&meta, 3, &value, &planned), EMBER_OK);
    CHECK_EQ(value.kind, EMBER_NONE);
    CHECK_EQ(ember_method_meta_input(&meta, 4, &value, &planned), EMBER_OK);
    CHECK(value.kind == EMBER_STRING && value.as_string.length == 4);
}

static void named_data_is_found(void) {
    subject_t subject;
    ember_bytes_t data;
    CHECK_EQ(subject_open(&subject, "named.pte"), EMBER_OK);
    CHECK_EQ(ember_program_named_data(&subject.program, "key", 3, &data), EMBER_OK);
    CHECK(data.size == 5 && memcmp(data.data, "value", 5) == 0);
    CHECK_EQ(ember_program_named_data(&subject.program, "key2", 4, &data), EMBER_OK);
    CHECK(data.size == 5 && memcmp(data.data, "other", 5) == 0);
    CHECK_EQ(ember_program_named_data(&subject.program, "ke", 2, &data),
             EMBER_NOT_FOUND);
    CHECK_EQ(ember_program_named_data(&subject.program, "", 0, &data), EMBER_NOT_FOUND);
}

static void the_first_of_equal_keys_is_found(void) {
    subject_t subject;
    ember_bytes_t data;
    CHECK_EQ(subject_open(&subject, "named_twice.pte"), EMBER_OK);
    CHECK_EQ(ember_program_named_data(&subject.program, "key", 3, &data), EMBER_OK);
    CHECK(data.size == 5 && memcmp(data.data, "first", 5) == 0);
}

static void unsorted_keys_are_found(void) {
    static const char *const keys[] = {"c", "e", "a", "d", "b"};
    subject_t subject;
    ember_bytes_t data;
    CHECK_EQ(subject_open(&subject, "named_unsorted.pte"), EMBER_OK);
    for (size_t i = 0; i < 5; i++) {
        CHECK_EQ(ember_program_named_data(&subject.program, keys[i], 1, &data),
                 EMBER_OK);
        CHECK(data.size == 1 && *data.data == (uint8_t)keys[i][0]);
    }
    CHECK_EQ(ember_program_named_data(&subject.program, "f", 1, &data),
             EMBER_NOT_FOUND);
}

static void data_files_are_searched(void) {
    static ember_data_map_t maps[2];
    const ember_bytes_t file = test_file("external.ptd");
    const ember_bytes_t more = test_file("more.ptd");
    subject_t subject;
    ember_bytes_t data;
    CHECK_EQ(ember_data_map_open(&maps[0], file.data, file.size, NULL), EMBER_OK);
    CHECK_EQ(ember_data_map_open(&maps[1], more.data, more.size, NULL), EMBER_OK);
    CHECK_EQ(subject_open(&subject, "named.pte"), EMBER_OK);
    ember_program_attach(&subject.program, maps, 2);
    CHECK_EQ(ember_program_named_data(&subject.program, "other", 5, &data), EMBER_OK);
    CHECK(data.size == 4 && memcmp(data.data, "blob", 4) == 0);
    CHECK_EQ(ember_program_named_data(&subject.program, "more", 4, &data), EMBER_OK);
    CHECK(data.size == 5 && memcmp(data.data, "bytes", 5) == 0);
    CHECK_EQ(ember_program_named_data(&subject.program, "key", 3, &data), EMBER_OK);
    CHECK_EQ(ember_program_named_data(&subject.program, "none", 4, &data),
             EMBER_NOT_FOUND);
}

static void data_files_are_verified(void) {
    const ember_bytes_t whole = test_file("external.ptd");
    uint32_t opened = 0;
    for (size_t size = 0; size < whole.size; size++) {
        ember_data_map_t map;
        void *part = test_alloc(size + (size == 0));
        memcpy(part, whole.data, size);
        opened += ember_data_map_open(&map, part, size, NULL) == EMBER_OK;
        test_free(part);
    }
    CHECK(opened < 128);
    ember_data_map_t map;
    const ember_bytes_t program = test_file("add.pte");
    CHECK_EQ(ember_data_map_open(&map, program.data, program.size, NULL),
             EMBER_UNSUPPORTED);
}

TESTS(TEST(opens_with_and_without_header), TEST(refuses_what_is_no_program),
      TEST(truncations_are_refused), TEST(meta_describes_methods),
      TEST(meta_describes_inputs), TEST(named_data_is_found),
      TEST(the_first_of_equal_keys_is_found), TEST(unsorted_keys_are_found),
      TEST(data_files_are_searched), TEST(data_files_are_verified))
