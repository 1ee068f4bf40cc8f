// SPDX-License-Identifier: Apache-2.0
// Bundled programs: inputs loaded, outputs compared, damaged files refused.
#include "ember/bundle.h"

#include <string.h>

#include "bundle_value.h"
#include "check.h"
#include "subject.h"
#include "toys.h"

enum { INPUT_BYTES = 1024 };

// Test cases of toys.bpte, in the order of programs.py.
enum { RIGHT, WRONG, NEAR, SPECIAL, OTHER_SHAPE, OTHER_DTYPE, FEW_INPUTS, TURNED };

typedef struct bundled {
    ember_bytes_t file;
    ember_bundle_t bundle;
    subject_t subject;
    ember_arena_t arena;
    ember_error_t error;
} bundled_t;

static void start(bundled_t *self) {
    *self = (bundled_t){.file = test_file("toys.bpte")};
    CHECK_EQ(ember_bundle_open(&self->bundle, self->file.data, self->file.size,
                               &self->error),
             EMBER_OK);
    CHECK_EQ(subject_open_bytes(&self->subject, self->bundle.program), EMBER_OK);
    CHECK_EQ(subject_load(&self->subject, "forward", &toy_registry), EMBER_OK);
    self->arena = (ember_arena_t){.data = test_alloc(INPUT_BYTES), .size = INPUT_BYTES};
}

static void stop(bundled_t *self) {
    test_free(self->arena.data);
    subject_close(&self->subject);
    test_free((void *)(uintptr_t)self->file.data);
}

static ember_status_t check(bundled_t *self, uint32_t index, double rtol, double atol) {
    ember_bundle_test_t test;
    ember_method_t *method = &self->subject.method;
    ember_status_t status =
        ember_bundle_find(&self->bundle, "forward", index, &test, &self->error);
    if (status == EMBER_OK) {
        status = ember_bundle_load_inputs(&test, method, &self->arena, &self->error);
    }
    if (status == EMBER_OK) {
        status = ember_method_execute(method, &self->error);
    }
    return status == EMBER_OK
               ? ember_bundle_compare(&test, method, rtol, atol, &self->error)
               : status;
}

static void equal_outputs_pass(void) {
    bundled_t self;
    start(&self);
    CHECK_EQ(ember_bundle_test_count(&self.bundle, "forward"), TURNED + 1);
    CHECK_EQ(check(&self, RIGHT, 0, 0), EMBER_OK);
    CHECK_EQ(check(&self, SPECIAL, 0, 0), EMBER_OK);
    CHECK_EQ(check(&self, TURNED, 0, 0), EMBER_OK);
    CHECK_EQ(check(&self, RIGHT, 0, 0), EMBER_OK);
    stop(&self);
}

static void differences_are_found(void) {
    bundled_t self;
    start(&self);
    CHECK_EQ(check(&self, WRONG, 1e-3, 1e-3), EMBER_MISMATCH);
    CHECK_EQ(self.error.instruction, 0); // the output
    CHECK_EQ(check(&self, NEAR, 0, 0), EMBER_MISMATCH);
    CHECK_EQ(check(&self, NEAR, 1e-3, 0), EMBER_OK);
    CHECK_EQ(check(&self, NEAR, 0, 1e-2), EMBER_OK);
    CHECK_EQ(check(&self, OTHER_SHAPE, 1, 1), EMBER_MISMATCH);
    CHECK_EQ(check(&self, OTHER_DTYPE, 1, 1), EMBER_MISMATCH);
    stop(&self);
}

static void inputs_must_fit(void) {
    bundled_t self;
    start(&self);
    CHECK_EQ(check(&self, FEW_INPUTS, 0, 0), EMBER_BAD_ARGUMENT);
    CHECK_EQ(check(&self, TURNED + 1, 0, 0), EMBER_NOT_FOUND);
    ember_bundle_test_t test;
    CHECK_EQ(ember_bundle_find(&self.bundle, "back", 0, &test, NULL), EMBER_NOT_FOUND);
    stop(&self);
}

// Every word of the file replaced; whatever still opens is read to its end.
static void damaged_files_are_safe(void) {
    static const uint32_t words[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    const ember_bytes_t file = test_file("toys.bpte");
    uint8_t *copy = test_alloc(file.size);
    ember_arena_t arena = {.data = test_alloc(INPUT_BYTES), .size = INPUT_BYTES};
    subject_t subject;
    ember_bundle_t bundle;
    CHECK_EQ(ember_bundle_open(&bundle, file.data, file.size, NULL), EMBER_OK);
    CHECK_EQ(subject_open_bytes(&subject, bundle.program), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    const size_t program_at = (size_t)(bundle.program.data - file.data);
    for (size_t at = 0; at + 4 <= file.size; at += 4) {
        if (at >= program_at && at < program_at + bundle.program.size) {
            continue; // fuzzed elsewhere
        }
        for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            memcpy(copy, file.data, file.size);
            memcpy(copy + at, &words[i], sizeof(words[i]));
            if (ember_bundle_open(&bundle, copy, file.size, NULL) != EMBER_OK) {
                continue;
            }
            ember_bundle_test_t test;
            for (uint32_t n = 0;
                 ember_bundle_find(&bundle, "forward", n, &test, NULL) == EMBER_OK;
                 n++) {
                arena.used = 0;
                (void)!ember_bundle_load_inputs(&test, &subject.method, &arena, NULL);
                (void)!ember_bundle_compare(&test, &subject.method, 0, 0, NULL);
            }
        }
    }
    subject_close(&subject);
    test_free(arena.data);
    test_free(copy);
    test_free((void *)(uintptr_t)file.data);
}

static void truncated_files_are_refused(void) {
    static _Alignas(16) const uint8_t zeros[16];
    const ember_bytes_t file = test_file("toys.bpte");
    ember_bundle_t bundle;
    CHECK_EQ(ember_bundle_open(&bundle, zeros, 15, NULL), EMBER_BAD_PROGRAM);
    CHECK_EQ(ember_bundle_open(&bundle, zeros, 16, NULL), EMBER_UNSUPPORTED);
    for (size_t size = 0; size < file.size; size++) {
        ember_bundle_test_t test;
        uint8_t *copy = test_alloc(size);
        memcpy(copy, file.data, size);
        ember_status_t status = ember_bundle_open(&bundle, copy, size, NULL);
        if (status == EMBER_OK) { // the tests may be gone, or their values
            status = ember_bundle_find(&bundle, "forward", 0, &test, NULL);
        }
        for (uint32_t i = 0; status == EMBER_OK && i < vector_count(test.outputs);
             i++) {
            ember_value_t value;
            status = ember_bundle_value(&test, test.outputs, i, &value, NULL);
        }
        CHECK(status != EMBER_OK || size > file.size / 2); // less may be all there is
        test_free(copy);
    }
    CHECK_EQ(ember_bundle_open(&bundle, NULL, 100, NULL), EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_bundle_open(&bundle, file.data + 8, file.size - 8, NULL),
             EMBER_BAD_ARGUMENT);
    test_free((void *)(uintptr_t)file.data);
}

TESTS(TEST(equal_outputs_pass), TEST(differences_are_found), TEST(inputs_must_fit),
      TEST(damaged_files_are_safe), TEST(truncated_files_are_refused))
