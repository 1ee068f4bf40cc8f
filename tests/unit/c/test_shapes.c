// SPDX-License-Identifier: Apache-2.0
// Shapes that change from run to run, and views.
#include <string.h>

#include "check.h"
#include "subject.h"
#include "toys.h"

static void start(subject_t *subject, const char *name) {
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    CHECK_EQ(subject_load(subject, "forward", &toy_registry), EMBER_OK);
    toy_prepares = toy_runs = 0;
}

static ember_status_t execute(subject_t *subject) {
    return ember_method_execute(&subject->method, &subject->error);
}

static ember_status_t set(subject_t *subject, uint32_t index, int32_t n, float *data) {
    const ember_value_t given = {
        .kind = EMBER_TENSOR,
        .as_tensor = {.data = data,
                      .sizes = &n,
                      .rank = 1,
                      .dtype = EMBER_F32,
                      .numel = (uint32_t)n,
                      .element_size = 4},
    };
    return ember_method_set_input(&subject->method, index, &given, &subject->error);
}

static ember_tensor_t output(subject_t *subject, uint32_t index) {
    ember_value_t value = {.kind = EMBER_NONE};
    CHECK_EQ(ember_method_output(&subject->method, index, &value), EMBER_OK);
    CHECK_EQ(value.kind, EMBER_TENSOR);
    return value.as_tensor;
}

static void shapes_change_and_change_back(void) {
    static const int32_t turns[] = {4, 3, 3, 1, 0, 4};
    static const uint32_t prepares[] = {0, 3, 0, 3, 3, 3};
    subject_t subject;
    start(&subject, "dynamic.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    // A turn more, for the size that the first execution found.
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    for (uint32_t turn = 0; turn < 6; turn++) {
        const int32_t n = turns[turn];
        float x[4] = {1, 2, 3, 4};
        ember_value_t size;
        toy_prepares = 0;
        CHECK_EQ(set(&subject, 0, n, x), EMBER_OK);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK_EQ(output(&subject, 0).sizes[0], n);
        CHECK_EQ(output(&subject, 0).numel, n);
        CHECK_EQ(output(&subject, 2).sizes[0], n);
        CHECK_EQ(ember_method_output(&subject.method, 1, &size), EMBER_OK);
        CHECK_EQ(size.as_int, n);
        if (n > 0) {
            CHECK(subject_output(&subject, 2)[n - 1] == (float)(2 * n));
        }
        // Once for each of the three nodes that depend on the shape, not more than
        // once more for the node whose own result changed.
        CHECK(toy_prepares >= prepares[turn] && toy_prepares <= prepares[turn] + 1);
    }
    subject_close(&subject);
}

static void shapes_past_the_bound_are_refused(void) {
    subject_t subject;
    float x[8] = {0};
    start(&subject, "dynamic.pte");
    CHECK_EQ(set(&subject, 0, 5, x), EMBER_BAD_ARGUMENT);
    CHECK_EQ(set(&subject, 0, -1, x), EMBER_BAD_ARGUMENT);
    CHECK_EQ(set(&subject, 0, INT32_MAX, x), EMBER_BAD_ARGUMENT);
    const int32_t five = 5, three = 3;
    CHECK_EQ(ember_method_resize_input(&subject.method, 0, 1, &five, &subject.error),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_resize_input(&subject.method, 0, 2, &three, NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_resize_input(&subject.method, 1, 1, &three, NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_resize_input(&subject.method, 0, 1, &three, NULL), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(output(&subject, 0).numel, 3);
    subject_close(&subject);
}

static void outputs_past_their_bound_fail(void) {
    subject_t subject;
    float x[4] = {1, 2, 3, 4};
    start(&subject, "too_dynamic.pte");
    CHECK_EQ(set(&subject, 0, 4, x), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_BAD_PROGRAM);
    CHECK_EQ(subject.error.instruction, 0);
    CHECK_EQ(set(&subject, 0, 3, x), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[2] == 3);
    subject_close(&subject);
}

static void data_decides_shapes(void) {
    static const float inputs[3][4] = {{1, -1, 2, -2}, {-1, -1, -1, -1}, {1, 2, 3, 4}};
    static const uint32_t counts[] = {2, 0, 4};
    subject_t subject;
    start(&subject, "positive.pte");
    for (int turn = 0; turn < 6; turn++) {
        memcpy(subject_input(&subject, 0), inputs[turn % 3], 16);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK_EQ(output(&subject, 0).numel, counts[turn % 3]);
        if (turn % 3 == 0) {
            CHECK(subject_output(&subject, 0)[1] == 4);
        }
    }
    subject_close(&subject);
}

static void bound_inputs_are_dynamic(void) {
    subject_t subject;
    start(&subject, "bound_dynamic.pte");
    for (int32_t n = 0; n <= 4; n++) {
        float *x = test_alloc((size_t)n * 4 + (n == 0));
        for (int32_t i = 0; i < n; i++) {
            x[i] = (float)i;
        }
        CHECK_EQ(set(&subject, 0, n, x), EMBER_OK);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK_EQ(output(&subject, 0).numel, n);
        // Growing needs memory for it.
        const int32_t more = n + 1;
        CHECK_EQ(ember_method_resize_input(&subject.method, 0, 1, &more, NULL),
                 EMBER_BAD_ARGUMENT);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK_EQ(set(&subject, 0, 5, x), EMBER_BAD_ARGUMENT);
        test_free(x);
    }
    subject_close(&subject);
}

static void set_first(subject_t *subject, bool first) {
    const ember_value_t given = {.kind = EMBER_BOOL, .as_bool = first};
    CHECK_EQ(ember_method_set_input(&subject->method, 2, &given, &subject->error),
             EMBER_OK);
}

static void set_rows(subject_t *subject, int64_t rows) {
    const ember_value_t given = {.kind = EMBER_INT, .as_int = rows};
    CHECK_EQ(ember_method_set_input(&subject->method, 1, &given, &subject->error),
             EMBER_OK);
}

static void views_follow_their_base(void) {
    subject_t subject;
    start(&subject, "views.pte");
    float *x = test_alloc(16);
    for (int i = 0; i < 4; i++) {
        x[i] = (float)i;
    }
    set_first(&subject, false);
    CHECK_EQ(set(&subject, 0, 4, x), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[3] == 3);
    CHECK_EQ(output(&subject, 0).rank, 2);

    float *smaller = test_alloc(8);
    smaller[0] = 8, smaller[1] = 9;
    CHECK_EQ(set(&subject, 0, 2, smaller), EMBER_OK);
    test_free(x);
    set_rows(&subject, 1);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(output(&subject, 0).sizes[0], 1);
    CHECK(subject_output(&subject, 0)[1] == 9);
    set_rows(&subject, 2);
    CHECK_EQ(execute(&subject), EMBER_BAD_PROGRAM);
    CHECK_EQ(subject.error.instruction, 2);
    set_rows(&subject, 1);
    CHECK_EQ(execute(&subject), EMBER_OK);
    test_free(smaller);
    subject_close(&subject);
}

// The view is used before it is made again: its old memory may be gone.
static void views_forget_memory_that_left(void) {
    subject_t subject;
    start(&subject, "views.pte");
    float *x = test_alloc(16), *other = test_alloc(16);
    set_first(&subject, false);
    CHECK_EQ(set(&subject, 0, 4, x), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    set_first(&subject, true);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(set(&subject, 0, 4, other), EMBER_OK);
    test_free(x);
    CHECK_EQ(execute(&subject), EMBER_BAD_ARGUMENT);
    CHECK_EQ(subject.error.instruction, 1);
    set_first(&subject, false);
    CHECK_EQ(execute(&subject), EMBER_OK);
    test_free(other);
    subject_close(&subject);
}

static void moved_inputs_are_their_own_again(void) {
    subject_t subject;
    start(&subject, "move_input.pte");
    for (int turn = 0; turn < 3; turn++) {
        float x[2] = {(float)turn, 3};
        CHECK_EQ(set(&subject, 0, 2, x), EMBER_OK);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[0] == (float)turn);
        CHECK(subject_output(&subject, 1)[0] == 8);
    }
    subject_close(&subject);
}

TESTS(TEST(shapes_change_and_change_back), TEST(shapes_past_the_bound_are_refused),
      TEST(outputs_past_their_bound_fail), TEST(data_decides_shapes),
      TEST(bound_inputs_are_dynamic), TEST(views_follow_their_base),
      TEST(views_forget_memory_that_left), TEST(moved_inputs_are_their_own_again))
