// SPDX-License-Identifier: Apache-2.0
// Bundled values of every kind: compared with what a method gives, and refused.
#include <string.h>

#include "bundle_value.h"
#include "check.h"
#include "ember/bundle.h"
#include "subject.h"
#include "toys.h"

enum { INPUT_BYTES = 1024, OUTPUTS = 8 };

// Test cases of values.bpte, in the order of programs_bundles.py; the wrong ones differ
// in one output.
enum { RIGHT, FIRST_WRONG, LAST_WRONG = 14, MORE_OUTPUTS, DEEP, DEEPEST, LARGEST };
static const uint8_t wrong_output[] = {0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 6, 7};

typedef struct bundled {
    ember_bytes_t file;
    ember_bundle_t bundle;
    subject_t subject;
    ember_arena_t arena;
    ember_error_t error;
} bundled_t;

static void start(bundled_t *self, size_t room) {
    *self = (bundled_t){.file = test_file("values.bpte")};
    CHECK_EQ(ember_bundle_open(&self->bundle, self->file.data, self->file.size, NULL),
             EMBER_OK);
    CHECK_EQ(subject_open_bytes(&self->subject, self->bundle.program), EMBER_OK);
    CHECK_EQ(subject_load(&self->subject, "forward", &toy_registry), EMBER_OK);
    self->arena = (ember_arena_t){.data = test_alloc(room), .size = room};
}

static void stop(bundled_t *self) {
    test_free(self->arena.data);
    subject_close(&self->subject);
    test_free((void *)(uintptr_t)self->file.data);
}

static ember_status_t check(bundled_t *self, uint32_t index) {
    ember_bundle_test_t test;
    ember_method_t *method = &self->subject.method;
    self->arena.used = 0;
    ember_status_t status =
        ember_bundle_find(&self->bundle, "forward", index, &test, &self->error);
    if (status == EMBER_OK) {
        status = ember_bundle_load_inputs(&test, method, &self->arena, &self->error);
    }
    if (status == EMBER_OK) {
        status = ember_method_execute(method, &self->error);
    }
    return status == EMBER_OK
               ? ember_bundle_compare(&test, method, 1e-3, 1e-3, &self->error)
               : status;
}

static void values_of_every_kind_are_compared(void) {
    bundled_t self;
    start(&self, INPUT_BYTES);
    CHECK_EQ(check(&self, RIGHT), EMBER_OK);
    CHECK_EQ(self.arena.used, 8); // of the one input without planned memory
    for (uint32_t i = FIRST_WRONG; i <= LAST_WRONG; i++) {
        CHECK_EQ(check(&self, i), EMBER_MISMATCH);
        CHECK_EQ(self.error.instruction, wrong_output[i - FIRST_WRONG]);
    }
    CHECK_EQ(check(&self, MORE_OUTPUTS), EMBER_BAD_ARGUMENT);
    CHECK_EQ(self.error.instruction, OUTPUTS);
    CHECK_EQ(check(&self, DEEP), EMBER_BAD_PROGRAM);
    CHECK_EQ(check(&self, DEEPEST), EMBER_MISMATCH); // of as many dimensions as may be
    stop(&self);
}

typedef struct half {
    uint32_t output; // 0: float16, 1: bfloat16
    uint32_t place;
    uint16_t bits; // of what is got; what is wanted is in programs_bundles.py
    double gap;    // between the two
} half_t;

// What halves are worth: a tolerance of their difference lets them pass, one below it
// does not.
static const half_t halves[] = {
    {0, 0, 0x0001, 0x1p-24},        // subnormal
    {0, 0, 0x8001, 0x1p-24},        //
    {0, 0, 0x03FF, 1023 * 0x1p-24}, //
    {0, 0, 0x0200, 0x1p-15},        //
    {0, 0, 0x0400, 0x1p-14},        // the smallest that is normal
    {0, 0, 0x3C01, 1 + 0x1p-10},    //
    {0, 1, 0x0003, 0x1p-23},        //
    {0, 3, 0x3E00, 3},              // two signs
    {0, 4, 0x7BFE, 32},             //
    {1, 0, 0x0001, 0x1p-133},       // subnormal
    {1, 0, 0x807F, 127 * 0x1p-133}, //
    {1, 0, 0x0080, 0x1p-126},       // the smallest that is normal
    {1, 0, 0x3F81, 1 + 0x1p-7},     //
    {1, 3, 0x3FC0, 3},              //
};

static ember_status_t compare_half(bundled_t *self, const half_t *half, double atol) {
    ember_bundle_test_t test;
    ember_value_t value;
    uint16_t numbers[OUTPUTS];
    ember_method_t *method = &self->subject.method;
    CHECK_EQ(ember_bundle_find(&self->bundle, "forward", RIGHT, &test, NULL), EMBER_OK);
    self->arena.used = 0;
    CHECK_EQ(ember_bundle_load_inputs(&test, method, &self->arena, NULL), EMBER_OK);
    CHECK_EQ(ember_method_input(method, half->output, &value), EMBER_OK);
    CHECK_EQ(ember_tensor_bytes(&value.as_tensor), sizeof(numbers));
    memcpy(numbers, value.as_tensor.data, sizeof(numbers));
    numbers[half->place] = half->bits;
    value.as_tensor.data = numbers;
    CHECK_EQ(ember_method_set_input(method, half->output, &value, NULL), EMBER_OK);
    CHECK_EQ(ember_method_execute(method, NULL), EMBER_OK);
    return ember_bundle_compare(&test, method, 0, atol, NULL);
}

static void halves_are_worth_their_bits(void) {
    bundled_t self;
    start(&self, INPUT_BYTES);
    for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
        const half_t *half = &halves[i];
        CHECK_EQ(compare_half(&self, half, half->gap), EMBER_OK);
        CHECK_EQ(compare_half(&self, half, half->gap * 0.999), EMBER_MISMATCH);
    }
    stop(&self);
}

static void each_method_has_its_tests(void) {
    const ember_bytes_t file = test_file("suites.bpte");
    ember_bundle_t bundle;
    CHECK_EQ(ember_bundle_open(&bundle, file.data, file.size, NULL), EMBER_OK);
    CHECK_EQ(ember_bundle_test_count(&bundle, "increase"), 1);
    CHECK_EQ(ember_bundle_test_count(&bundle, "read"), 2);
    CHECK_EQ(ember_bundle_test_count(&bundle, "forward"), 0);
    test_free((void *)(uintptr_t)file.data);
}

static void outputs_without_memory_differ(void) {
    const ember_bytes_t file = test_file("unbound.bpte");
    ember_bundle_t bundle;
    ember_bundle_test_t test;
    ember_error_t error;
    subject_t subject;
    CHECK_EQ(ember_bundle_open(&bundle, file.data, file.size, NULL), EMBER_OK);
    CHECK_EQ(subject_open_bytes(&subject, bundle.program), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    CHECK_EQ(ember_bundle_find(&bundle, "forward", 0, &test, NULL), EMBER_OK);
    CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_OK);
    CHECK_EQ(ember_bundle_compare(&test, &subject.method, 0, 0, &error),
             EMBER_MISMATCH);
    CHECK_EQ(error.instruction, 1);
    subject_close(&subject);
    test_free((void *)(uintptr_t)file.data);
}

// A tolerance of all of it lets the largest number pass, as it is not infinite.
static void the_largest_number_is_a_number(void) {
    bundled_t self;
    ember_bundle_test_t test;
    start(&self, INPUT_BYTES);
    CHECK_EQ(check(&self, RIGHT), EMBER_OK);
    CHECK_EQ(ember_bundle_find(&self.bundle, "forward", LARGEST, &test, NULL),
             EMBER_OK);
    CHECK_EQ(ember_bundle_compare(&test, &self.subject.method, 1, 0, NULL), EMBER_OK);
    CHECK_EQ(ember_bundle_compare(&test, &self.subject.method, 0.9, 0, NULL),
             EMBER_MISMATCH);
    stop(&self);
}

static void a_caller_may_want_no_error(void) {
    bundled_t self;
    start(&self, INPUT_BYTES);
    ember_bundle_test_t test;
    CHECK_EQ(check(&self, RIGHT), EMBER_OK);
    CHECK_EQ(ember_bundle_find(&self.bundle, "forward", FIRST_WRONG, &test, NULL),
             EMBER_OK);
    CHECK_EQ(ember_bundle_compare(&test, &self.subject.method, 0, 0, NULL),
             EMBER_MISMATCH);
    stop(&self);
}

static void inputs_without_a_plan_need_room(void) {
    bundled_t self;
    start(&self, 4);
    CHECK_EQ(check(&self, RIGHT), EMBER_NO_MEMORY);
    stop(&self);
}

// Where the file says how far away `vector` is; 0: nowhere.
static size_t offset_to(ember_bytes_t file, size_t vector) {
    for (size_t at = 8; at < vector; at += 4) {
        uint32_t offset;
        memcpy(&offset, file.data + at, sizeof(offset));
        if (at + offset == vector) {
            return at;
        }
    }
    return 0;
}

static void put_u32(uint8_t *at, size_t value) {
    const uint32_t word = (uint32_t)value;
    memcpy(at, &word, sizeof(word));
}

// A planned input whose data the file has at an odd place is copied as well: here the
// numbers of 8 bytes once more at the end of the file, 4 bytes behind a multiple of 8.
static void misaligned_data_is_copied(void) {
    enum { INPUT = 2 };
    bundled_t self;
    start(&self, INPUT_BYTES);
    ember_bundle_test_t test;
    ember_value_t wide;
    CHECK_EQ(ember_bundle_find(&self.bundle, "forward", RIGHT, &test, NULL), EMBER_OK);
    CHECK_EQ(ember_bundle_value(&test, test.inputs, INPUT, &wide, NULL), EMBER_OK);
    CHECK(wide.as_tensor.constant); // the file's
    const size_t bytes = ember_tensor_bytes(&wide.as_tensor);
    const size_t vector =
        (size_t)((const uint8_t *)wide.as_tensor.data - self.file.data) - 4;
    const size_t field = offset_to(self.file, vector);
    const size_t end = (self.file.size + 7) & ~(size_t)7;
    uint8_t *longer = test_alloc(end + 4 + bytes);
    memcpy(longer, self.file.data, self.file.size);
    memcpy(longer + end, self.file.data + vector, 4 + bytes);
    put_u32(longer + field, end - field);
    ember_bundle_t bundle;
    CHECK(field != 0);
    CHECK_EQ(ember_bundle_open(&bundle, longer, end + 4 + bytes, NULL), EMBER_OK);
    CHECK_EQ(ember_bundle_find(&bundle, "forward", RIGHT, &test, NULL), EMBER_OK);
    CHECK_EQ(ember_bundle_load_inputs(&test, &self.subject.method, &self.arena, NULL),
             EMBER_OK);
    CHECK(self.arena.used > bytes);
    CHECK_EQ(ember_bundle_compare(&test, &self.subject.method, 0, 0, NULL), EMBER_OK);
    test_free(longer);
    stop(&self);
}

// Tags that no kind has, and tables of values that are not there.
static void damaged_values_are_refused(void) {
    bundled_t self;
    start(&self, INPUT_BYTES);
    uint8_t *copy = test_alloc(self.file.size);
    const size_t program_at = (size_t)(self.bundle.program.data - self.file.data);
    uint32_t refused = 0;
    for (size_t at = 8; at < self.file.size; at++) {
        if (at >= program_at && at < program_at + self.bundle.program.size) {
            continue;
        }
        for (uint32_t bits = 1; bits < 256; bits <<= 1) {
            ember_bundle_t bundle;
            ember_bundle_test_t test;
            memcpy(copy, self.file.data, self.file.size);
            copy[at] ^= (uint8_t)bits;
            if (ember_bundle_open(&bundle, copy, self.file.size, NULL) != EMBER_OK ||
                ember_bundle_find(&bundle, "forward", RIGHT, &test, NULL) != EMBER_OK) {
                continue;
            }
            for (uint32_t i = 0; i < vector_count(test.inputs); i++) {
                ember_value_t value;
                const ember_status_t status =
                    ember_bundle_value(&test, test.inputs, i, &value, NULL);
                CHECK(status != EMBER_OK || value.kind != EMBER_NONE);
                refused += status == EMBER_BAD_PROGRAM;
            }
        }
    }
    CHECK(refused > 100);
    test_free(copy);
    stop(&self);
}

// The offset to the program, four bytes further: inside of it, and misaligned.
static void a_misaligned_program_is_refused(void) {
    bundled_t self;
    start(&self, INPUT_BYTES);
    ember_bundle_t bundle;
    uint8_t *copy = test_alloc(self.file.size);
    const size_t vector = (size_t)(self.bundle.program.data - self.file.data) - 4;
    const size_t field = offset_to(self.file, vector);
    CHECK(field != 0);
    memcpy(copy, self.file.data, self.file.size);
    put_u32(copy + field, vector + 4 - field);
    CHECK_EQ(ember_bundle_open(&bundle, copy, self.file.size, NULL), EMBER_BAD_PROGRAM);
    test_free(copy);
    stop(&self);
}

static void a_bundle_has_a_most(void) {
    bundled_t self;
    ember_bundle_t bundle;
    start(&self, INPUT_BYTES);
    CHECK_EQ(ember_bundle_open(&bundle, self.file.data, (size_t)INT32_MAX, NULL),
             EMBER_OK); // its tables are all at the start
    CHECK_EQ(ember_bundle_open(&bundle, self.file.data, (size_t)INT32_MAX + 1, NULL),
             EMBER_BAD_PROGRAM); // told before anything behind its head is read
    stop(&self);
}

TESTS(TEST(each_method_has_its_tests), TEST(outputs_without_memory_differ),
      TEST(halves_are_worth_their_bits), TEST(a_bundle_has_a_most),
      TEST(values_of_every_kind_are_compared), TEST(the_largest_number_is_a_number),
      TEST(a_caller_may_want_no_error), TEST(inputs_without_a_plan_need_room),
      TEST(misaligned_data_is_copied), TEST(damaged_values_are_refused),
      TEST(a_misaligned_program_is_refused))
