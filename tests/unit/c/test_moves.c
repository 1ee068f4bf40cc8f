// SPDX-License-Identifier: Apache-2.0
// Moves between values that are unlike, and views of what a move has changed.
#include "check.h"
#include "subject.h"
#include "toys.h"

static void start(subject_t *subject, const char *name) {
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    CHECK_EQ(subject_load(subject, "forward", &toy_registry), EMBER_OK);
}

static ember_status_t execute(subject_t *subject) {
    return ember_method_execute(&subject->method, &subject->error);
}

static ember_status_t bind(subject_t *subject, uint32_t index, uint8_t dtype, int32_t n,
                           void *data) {
    const ember_value_t given = {
        .kind = EMBER_TENSOR,
        .as_tensor = {.data = data, .sizes = &n, .rank = 1, .dtype = dtype}};
    return ember_method_set_input(&subject->method, index, &given, &subject->error);
}

static void fill(float *data, int32_t n, float first) {
    for (int32_t i = 0; i < n; i++) {
        data[i] = first + (float)i;
    }
}

static void kinds_change_with_moves(void) {
    subject_t subject;
    start(&subject, "kinds_moved.pte");
    for (int turn = 0; turn < 3; turn++) {
        ember_value_t value;
        fill(subject_input(&subject, 0), 2, 5);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[1] == 6);
        CHECK_EQ(ember_method_output(&subject.method, 1, &value), EMBER_OK);
        CHECK_EQ(value.kind, EMBER_INT);
        CHECK_EQ(value.as_int, 3);
        CHECK_EQ(ember_method_output(&subject.method, 2, &value), EMBER_OK);
        CHECK_EQ(value.kind, EMBER_STRING);
        CHECK_EQ(value.as_string.length, 3);
    }
    subject_close(&subject);
}

static void a_number_is_no_tensor(void) {
    subject_t subject;
    start(&subject, "scalar_for_tensor.pte");
    CHECK_EQ(execute(&subject), EMBER_BAD_PROGRAM);
    CHECK_EQ(subject.error.instruction, 1);
    subject_close(&subject);
    start(&subject, "scalar_for_output.pte");
    CHECK_EQ(execute(&subject), EMBER_BAD_PROGRAM);
    CHECK_EQ(subject.error.instruction, 1);
    subject_close(&subject);
}

// What cannot be copied has its handle moved.
static void unlike_tensors_stand_for_each_other(void) {
    subject_t subject;
    start(&subject, "unlike.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(subject_output(&subject, i) == subject_input(&subject, i == 3));
    }
    subject_close(&subject);
}

static void tensors_that_overlap_stay_where_they_are(void) {
    subject_t subject;
    start(&subject, "overlapping.pte");
    fill(subject_input(&subject, 0), 8, 1);
    CHECK_EQ(execute(&subject), EMBER_OK);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(subject_output(&subject, i) == subject_input(&subject, 0));
        CHECK(subject_output(&subject, i)[7] == 8);
    }
    subject_close(&subject);
}

static void neighbours_are_copied(void) {
    subject_t subject;
    start(&subject, "neighbours.pte");
    fill(subject_input(&subject, 0), 4, 1);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0) + 4 == subject_input(&subject, 0));
    CHECK(subject_output(&subject, 1) == subject_input(&subject, 0) + 4);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(subject_output(&subject, i)[3] == 4);
    }
    subject_close(&subject);
}

static ember_status_t give(subject_t *subject, uint32_t index, int64_t number) {
    const ember_value_t given = {.kind = EMBER_INT, .as_int = number};
    return ember_method_set_input(&subject->method, index, &given, &subject->error);
}

// A number that is moved was not fixed at export.
static void numbers_that_are_moved_can_be_given(void) {
    subject_t subject;
    ember_value_t value;
    start(&subject, "moved_number.pte");
    CHECK_EQ(give(&subject, 0, 5), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(ember_method_output(&subject.method, 0, &value), EMBER_OK);
    CHECK_EQ(value.as_int, 5);
    subject_close(&subject);
}

static void nothing_is_copied_from_nowhere(void) {
    subject_t subject;
    float x[2] = {3, 4};
    start(&subject, "unbound_move.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0) == NULL);
    CHECK_EQ(bind(&subject, 0, EMBER_F32, 2, x), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0) != x && subject_output(&subject, 0)[1] == 4);
    subject_close(&subject);
}

static void a_view_of_a_constant_stands_for_another(void) {
    subject_t subject;
    start(&subject, "over_a_view.pte");
    for (int turn = 0; turn < 3; turn++) {
        fill(subject_input(&subject, 0), 2, (float)turn);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[1] == 9);
        CHECK(subject_output(&subject, 1)[1] == (float)(turn + 1));
    }
    subject_close(&subject);
}

// The same bytes are constant through one handle, and the caller's through the other.
static void a_view_is_as_constant_as_its_base(void) {
    subject_t subject;
    start(&subject, "view_of_either.pte");
    float *c = subject_output(&subject, 1);
    uint8_t *yes = (uint8_t *)subject_input(&subject, 0);
    CHECK_EQ(bind(&subject, 1, EMBER_F32, 2, c), EMBER_OK);
    for (int turn = 0; turn < 4; turn++) {
        ember_value_t value;
        *yes = turn % 2 != 0;
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK_EQ(ember_method_output(&subject.method, 0, &value), EMBER_OK);
        CHECK(value.as_tensor.data == c);
        CHECK_EQ(value.as_tensor.constant, *yes == 0);
    }
    subject_close(&subject);
}

// What reads a view follows it.
static void views_of_either_are_read(void) {
    subject_t subject;
    start(&subject, "either_copied.pte");
    fill(subject_input(&subject, 1), 2, 3);
    fill(subject_input(&subject, 2), 2, 8);
    for (int turn = 0; turn < 4; turn++) {
        *(uint8_t *)subject_input(&subject, 0) = turn % 2 != 0;
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[1] == (turn % 2 != 0 ? 4 : 9));
    }
    subject_close(&subject);
}

// So does what writes it: nothing writes a constant, though it did where it was none.
static void views_of_constants_are_not_written(void) {
    subject_t subject;
    start(&subject, "either_written.pte");
    float *c = subject_output(&subject, 1);
    CHECK_EQ(bind(&subject, 1, EMBER_F32, 2, c), EMBER_OK);
    for (int turn = 0; turn < 4; turn++) {
        const bool yes = turn % 2 == 0;
        *(uint8_t *)subject_input(&subject, 0) = yes;
        CHECK_EQ(execute(&subject), yes ? EMBER_OK : EMBER_BAD_PROGRAM);
    }
    CHECK(c[1] == 7);
    subject_close(&subject);
}

static void a_view_stands_for_another_or_not(void) {
    subject_t subject;
    start(&subject, "view_or_not.pte");
    fill(subject_input(&subject, 1), 2, 3);
    for (int turn = 0; turn < 6; turn++) {
        const bool yes = turn % 3 != 2;
        *(uint8_t *)subject_input(&subject, 0) = yes;
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[1] == (yes ? 4 : 9));
    }
    subject_close(&subject);
}

// An input that stood for another stands for itself once it is given, even if it is
// given the memory that it had.
static void given_inputs_stand_for_themselves(void) {
    subject_t subject;
    float x[2] = {3, 4};
    start(&subject, "lent_and_moved.pte");
    fill(subject_input(&subject, 1), 2, 50);
    CHECK_EQ(bind(&subject, 0, EMBER_F32, 2, x), EMBER_OK);
    for (int turn = 0; turn < 3; turn++) {
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[1] == 4);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[1] == 51);
        CHECK_EQ(bind(&subject, 0, EMBER_F32, 2, x), EMBER_OK);
    }
    subject_close(&subject);
}

static void what_is_read_and_written_keeps_its_shape(void) {
    subject_t subject;
    start(&subject, "dynamic_sum.pte");
    fill(subject_input(&subject, 0), 2, 3);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[1] == 8);
    subject_close(&subject);
}

static void conditions_have_elements_or_none(void) {
    subject_t subject;
    uint8_t yes = 1;
    start(&subject, "condition_unbound.pte");
    CHECK_EQ(execute(&subject), EMBER_BAD_PROGRAM);
    CHECK_EQ(bind(&subject, 0, EMBER_B1, 1, &yes), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[0] == 7);
    subject_close(&subject);
    start(&subject, "condition_empty.pte");
    CHECK_EQ(execute(&subject), EMBER_OK); // all of nothing is true
    CHECK(subject_output(&subject, 0)[0] == 7);
    subject_close(&subject);
}

static void lists_are_moved(void) {
    subject_t subject;
    start(&subject, "moved_list.pte");
    for (int turn = 0; turn < 3; turn++) {
        fill(subject_input(&subject, 0), 2, (float)turn);
        fill(subject_input(&subject, 1), 2, 100);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK(subject_output(&subject, 0)[1] == (float)(2 * turn + 2));
    }
    subject_close(&subject);
}

static void handles_follow_shapes(void) {
    subject_t subject;
    float x[4] = {1, 2, 3, 4};
    start(&subject, "handle.pte");
    for (int32_t n = 1; n <= 4; n++) {
        ember_value_t value;
        CHECK_EQ(bind(&subject, 0, EMBER_F32, n, x), EMBER_OK);
        CHECK_EQ(execute(&subject), EMBER_OK);
        toy_prepares = 0;
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK_EQ(toy_prepares, 0);
        CHECK_EQ(ember_method_output(&subject.method, 0, &value), EMBER_OK);
        CHECK_EQ(value.as_tensor.sizes[0], n);
        CHECK(subject_output(&subject, 0)[n - 1] == (float)n);
    }
    subject_close(&subject);
}

// A call is prepared again once for a change of what an argument stands for.
static void handles_are_looked_at_once(void) {
    subject_t subject;
    float x[4] = {1, 2, 3, 4};
    start(&subject, "asked_handle.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    for (int32_t n = 1; n <= 4; n++) {
        CHECK_EQ(bind(&subject, 0, EMBER_F32, n, x), EMBER_OK);
        toy_prepares = 0;
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK_EQ(toy_prepares, 1);
        CHECK_EQ(execute(&subject), EMBER_OK);
        CHECK_EQ(toy_prepares, 1);
    }
    subject_close(&subject);
}

static void views_fit_their_base(void) {
    subject_t subject;
    float data[2] = {0};
    uint8_t *bytes = (uint8_t *)data;
    CHECK_EQ(subject_open(&subject, "wider_view.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_BAD_PROGRAM);
    subject_close(&subject);
    start(&subject, "odd_view.pte");
    CHECK_EQ(bind(&subject, 0, EMBER_U8, 4, bytes + 1), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_BAD_PROGRAM);
    CHECK_EQ(bind(&subject, 0, EMBER_U8, 4, bytes + 2), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    subject_close(&subject);
}

TESTS(TEST(kinds_change_with_moves), TEST(a_number_is_no_tensor),
      TEST(unlike_tensors_stand_for_each_other),
      TEST(tensors_that_overlap_stay_where_they_are), TEST(neighbours_are_copied),
      TEST(numbers_that_are_moved_can_be_given), TEST(nothing_is_copied_from_nowhere),
      TEST(a_view_of_a_constant_stands_for_another),
      TEST(a_view_is_as_constant_as_its_base), TEST(views_of_either_are_read),
      TEST(views_of_constants_are_not_written), TEST(a_view_stands_for_another_or_not),
      TEST(given_inputs_stand_for_themselves),
      TEST(what_is_read_and_written_keeps_its_shape),
      TEST(conditions_have_elements_or_none), TEST(lists_are_moved),
      TEST(handles_follow_shapes), TEST(handles_are_looked_at_once),
      TEST(views_fit_their_base))
