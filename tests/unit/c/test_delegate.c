// SPDX-License-Identifier: Apache-2.0
// Delegates: order of init, execute and destroy; what a backend sees; failures.
#include <string.h>

#include "check.h"
#include "ember/event.h"
#include "subject.h"
#include "toys.h"

typedef struct toy {
    uint8_t first; // of its blob
} toy_t;

static char events[64];
static uint32_t event_count;
static ember_status_t init_status;
static ember_status_t execute_status;
static const float *weights;
static bool releases; // blobs

static void note(char kind, uint8_t who) {
    if (event_count + 2 < sizeof(events)) {
        events[event_count++] = kind;
        events[event_count++] = (char)who;
        events[event_count] = '\0';
    }
}

static ember_status_t toy_init(const ember_delegate_info_t *info, void **handle) {
    ember_compile_spec_t spec;
    ember_bytes_t data;
    toy_t *toy = ember_arena_alloc(info->arena, sizeof(*toy), 1);
    if (toy == NULL) {
        return ember_fail(info->error, EMBER_NO_MEMORY, "toy: arena");
    }
    toy->first = info->blob.size > 0 ? info->blob.data[0] : '-';
    if (releases) {
        ember_delegate_release(info);
    }
    note('i', toy->first);
    if (toy->first == 'f') {
        CHECK_EQ(info->blob.size, 10);
        CHECK(ember_delegate_spec(info, 0, &spec));
        CHECK(spec.key_length == 3 && memcmp(spec.key, "key", 3) == 0);
        CHECK(spec.value.size == 5 && memcmp(spec.value.data, "value", 5) == 0);
        CHECK(ember_delegate_spec(info, 1, &spec));
        CHECK_EQ(spec.value.size, 0);
        CHECK(!ember_delegate_spec(info, 2, &spec));
    }
    if (ember_program_named_data(info->program, "weights", 7, &data) == EMBER_OK) {
        CHECK_EQ(data.size, 4);
        weights = (const float *)(const void *)data.data;
    }
    *handle = toy;
    return init_status;
}

static ember_status_t toy_execute(void *handle, ember_node_t *call) {
    const toy_t *toy = handle;
    ember_tensor_t x, y;
    note('x', toy->first);
    ember_node_tensor(call, 0, &x);
    ember_node_output_like(call, 1, &x, &y);
    if (ember_node_status(call) == EMBER_OK) {
        for (uint32_t i = 0; i < x.numel; i++) {
            ((float *)y.data)[i] = ((const float *)x.data)[i] * 2;
        }
        const ember_delegate_tracer_t *tracer = ember_node_tracer(call);
        if (tracer != NULL) {
            tracer->output(tracer->context, 1, 0, &y);
        }
    }
    return execute_status;
}

static void toy_destroy(void *handle) {
    note('d', ((toy_t *)handle)->first);
}

static const ember_backend_t toy_backend = {"ToyBackend", toy_init, toy_execute,
                                            toy_destroy};
static const ember_backend_t other_backend = {"ToyBackend2", toy_init, toy_execute,
                                              NULL};
static const ember_backend_t *const items[] = {&other_backend, &toy_backend};
static const ember_backends_t backends = {items, 2};
static const ember_registry_t registry = {&toy_operators, &backends, &ember_changing};

static ember_status_t load(subject_t *subject, const char *name) {
    event_count = 0;
    events[0] = '\0';
    init_status = execute_status = EMBER_OK;
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    return subject_load(subject, "forward", &registry);
}

static void delegates_start_once_and_end(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "delegates.pte"), EMBER_OK);
    CHECK(strcmp(events, "isifdfdsisif") == 0); // the subject loads twice
    CHECK(weights != NULL && *weights == 2.5f);
    event_count = 0;
    subject_input(&subject, 0)[1] = 1;
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_OK);
    CHECK(strcmp(events, "xsxfxf") == 0);
    CHECK(subject_output(&subject, 0)[1] == 8);
    event_count = 0;
    subject_close(&subject);
    CHECK(strcmp(events, "dfds") == 0);
    ember_method_unload(&subject.method);
    CHECK_EQ(event_count, 4);
}

static void note_output(void *context, uint32_t node, uint32_t output,
                        const ember_tensor_t *tensor) {
    *(uint32_t *)context += 100 * node + 10 * output + tensor->numel;
}

// A backend finds the hooks that are set, and none when they are taken away.
static void hooks_reach_backends(void) {
    subject_t subject;
    uint32_t sum = 0;
    const ember_delegate_tracer_t tracer = {.output = note_output, .context = &sum};
    CHECK_EQ(load(&subject, "delegates.pte"), EMBER_OK);
    ember_method_trace_delegates(&subject.method, &tracer);
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_OK);
    CHECK(sum > 100);
    const uint32_t before = sum;
    ember_method_trace_delegates(&subject.method, NULL);
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_OK);
    CHECK_EQ(sum, before);
    subject_close(&subject);
}

static void missing_backends_are_named(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "missing_backend.pte"), EMBER_UNSUPPORTED);
    CHECK_EQ(subject.error.instruction, 1);
    CHECK(strcmp(events, "iodo") == 0); // what had started was destroyed
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_UNSUPPORTED);
    CHECK_EQ(subject.error.instruction, 0);
}

static void failing_backends_are_reported(void) {
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "delegates.pte"), EMBER_OK);
    init_status = EMBER_BACKEND;
    event_count = 0;
    CHECK_EQ(subject_load(&subject, "forward", &registry), EMBER_BACKEND);
    CHECK_EQ(subject.error.status, EMBER_BACKEND);
    CHECK_EQ(subject.error.instruction, 0);
    CHECK(strcmp(events, "is") == 0);

    CHECK_EQ(load(&subject, "delegates.pte"), EMBER_OK);
    execute_status = EMBER_BACKEND;
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_BACKEND);
    CHECK_EQ(subject.error.status, EMBER_BACKEND);
    CHECK_EQ(subject.error.instruction, 0);
    subject_close(&subject);
}

static void unbound_arguments_are_refused(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "unbound_delegate.pte"), EMBER_OK);
    event_count = 0;
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_BAD_ARGUMENT);
    CHECK_EQ(subject.error.status, EMBER_BAD_ARGUMENT);
    CHECK_EQ(subject.error.instruction, 0);
    float x[2] = {1, 2};
    const int32_t two = 2;
    const ember_value_t given = {
        .kind = EMBER_TENSOR,
        .as_tensor = {.data = x, .sizes = &two, .rank = 1, .dtype = EMBER_F32}};
    CHECK_EQ(ember_method_set_input(&subject.method, 0, &given, NULL), EMBER_OK);
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_OK);
    CHECK(subject_output(&subject, 0)[1] == 4);
    subject_close(&subject);
}

// A number that a delegate is given was not fixed at export.
static void numbers_of_delegates_can_be_given(void) {
    subject_t subject;
    const ember_value_t five = {.kind = EMBER_INT, .as_int = 5};
    CHECK_EQ(load(&subject, "numbered_delegate.pte"), EMBER_OK);
    CHECK_EQ(ember_method_set_input(&subject.method, 1, &five, NULL), EMBER_OK);
    CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_OK);
    subject_close(&subject);
}

static void blobs_are_there_or_absent(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "delegate_outside.pte"), EMBER_BAD_PROGRAM);
    CHECK_EQ(event_count, 0);
    CHECK_EQ(load(&subject, "delegate_blank.pte"), EMBER_OK);
    CHECK(strcmp(events + event_count - 4, "i-i-") == 0);
    subject_close(&subject);
}

// Blobs inside the FlatBuffer and shared ones stay.
static void released_blobs_are_spare(void) {
    subject_t subject;
    ember_bytes_t spare;
    uint32_t empty = 0;
    uint32_t found = 0;
    CHECK_EQ(load(&subject, "delegates.pte"), EMBER_OK);
    for (uint32_t i = 0; ember_method_spare(&subject.method, i, &spare); i++) {
        CHECK_EQ(spare.size, 0);
        empty++;
    }
    CHECK_EQ(empty, 3);
    subject_close(&subject);
    releases = true;
    CHECK_EQ(load(&subject, "delegates.pte"), EMBER_OK);
    releases = false;
    for (uint32_t i = 0; ember_method_spare(&subject.method, i, &spare); i++) {
        if (spare.size > 0) {
            memset((void *)(uintptr_t)spare.data, 0xA5, spare.size);
            found++;
        }
    }
    CHECK(found >= 1);
    subject_input(&subject, 0)[1] = 1;
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_OK);
    CHECK(subject_output(&subject, 0)[1] == 8);
    subject_close(&subject);
}

TESTS(TEST(released_blobs_are_spare), TEST(hooks_reach_backends),
      TEST(numbers_of_delegates_can_be_given), TEST(blobs_are_there_or_absent),
      TEST(delegates_start_once_and_end), TEST(missing_backends_are_named),
      TEST(failing_backends_are_reported), TEST(unbound_arguments_are_refused))
