// SPDX-License-Identifier: Apache-2.0
// The example backend: inline and named constants, and blobs that it must refuse.
#include "check.h"
#include "subject.h"
#include "toys.h"

extern const ember_backend_t ember_backend_example;
static const ember_backend_t *const items[] = {&ember_backend_example};
static const ember_backends_t backends = {items, 1};
static const ember_registry_t registry = {&toy_operators, &backends, &ember_changing};

static ember_status_t load(subject_t *subject, const char *name) {
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    return subject_load(subject, "forward", &registry);
}

static void operators_compute(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "example.pte"), EMBER_OK);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 3; i++) {
            subject_input(&subject, 0)[i] = (float)(10 * (i + turn));
        }
        CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_OK);
        for (int i = 0; i < 3; i++) {
            const float x = (float)(10 * (i + turn));
            CHECK(subject_output(&subject, 0)[i] == x * (float)(i + 1) + 0.5f + x);
        }
    }
    subject_close(&subject);
}

static void other_shapes_are_refused(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "example_other_size.pte"), EMBER_OK);
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_BACKEND);
    CHECK_EQ(subject.error.instruction, 0);
    subject_close(&subject);
}

static void bad_blobs_are_refused(void) {
    char name[] = "example_bad_00.pte";
    for (int i = 0; i < 14; i++) {
        static const char suffix[] = ".pte";
        char *at = name + 12;
        if (i >= 10) {
            *at++ = (char)('0' + i / 10);
        }
        *at++ = (char)('0' + i % 10);
        for (uint32_t k = 0; k < sizeof(suffix); k++) {
            at[k] = suffix[k];
        }
        subject_t subject;
        CHECK_EQ(load(&subject, name), EMBER_BACKEND);
        CHECK_EQ(subject.error.instruction, 0);
    }
}

TESTS(TEST(operators_compute), TEST(other_shapes_are_refused),
      TEST(bad_blobs_are_refused))
