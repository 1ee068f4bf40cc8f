// SPDX-License-Identifier: Apache-2.0
// Inputs, outputs and attributes: copied, bound and lent.
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

static void planned_inputs_are_copied(void) {
    subject_t subject;
    start(&subject, "moves.pte");
    float a[2] = {1, 2};
    CHECK_EQ(set(&subject, 0, 2, a), EMBER_OK);
    CHECK(subject_input(&subject, 0) != a && subject_input(&subject, 0)[1] == 2);
    CHECK_EQ(set(&subject, 0, 3, a), EMBER_BAD_ARGUMENT);
    CHECK_EQ(set(&subject, 0, 1, a), EMBER_BAD_ARGUMENT);
    CHECK_EQ(set(&subject, 2, 2, a), EMBER_BAD_ARGUMENT);
    CHECK_EQ(subject.error.status, EMBER_BAD_ARGUMENT);
    subject_close(&subject);
}

static void wrong_tensors_are_refused(void) {
    subject_t subject;
    start(&subject, "layouts.pte");
    static const int32_t sizes[] = {1, 2, 3, 4};
    static const uint8_t plain[] = {0, 1, 2, 3};
    float data[24] = {0};
    ember_value_t given = {
        .kind = EMBER_TENSOR,
        .as_tensor = {.data = data, .sizes = sizes, .rank = 4, .dtype = EMBER_F32}};
    CHECK_EQ(ember_method_set_input(&subject.method, 0, &given, NULL), EMBER_OK);
    given.as_tensor.dim_order = plain;
    CHECK_EQ(ember_method_set_input(&subject.method, 0, &given, NULL),
             EMBER_BAD_ARGUMENT);
    given.as_tensor.dim_order = NULL;
    given.as_tensor.dtype = EMBER_S32;
    CHECK_EQ(ember_method_set_input(&subject.method, 0, &given, NULL),
             EMBER_BAD_ARGUMENT);
    given.as_tensor.dtype = EMBER_F32;
    given.as_tensor.rank = 3;
    CHECK_EQ(ember_method_set_input(&subject.method, 0, &given, NULL),
             EMBER_BAD_ARGUMENT);
    given.as_tensor.rank = 4;
    given.as_tensor.data = (uint8_t *)data + 1;
    CHECK_EQ(ember_method_set_input(&subject.method, 0, &given, NULL),
             EMBER_BAD_ARGUMENT);
    given.kind = EMBER_INT;
    CHECK_EQ(ember_method_set_input(&subject.method, 0, &given, NULL),
             EMBER_BAD_ARGUMENT);
    given.kind = EMBER_NONE;
    CHECK_EQ(ember_method_set_input(&subject.method, 0, &given, NULL),
             EMBER_BAD_ARGUMENT);
    subject_close(&subject);
}

// Whether six elements of a shape are taken in a dim order.
static ember_status_t set_laid_out(subject_t *subject, const int32_t *sizes,
                                   const uint8_t *order) {
    float data[12] = {1, 2, 3, 4, 5, 6};
    const ember_value_t given = {.kind = EMBER_TENSOR,
                                 .as_tensor = {.data = data,
                                               .sizes = sizes,
                                               .dim_order = order,
                                               .rank = 4,
                                               .dtype = EMBER_F32}};
    return ember_method_set_input(&subject->method, 0, &given, NULL);
}

static void orders_of_the_same_memory_are_one(void) {
    static const int32_t one_channel[] = {1, 1, 2, 3};
    static const int32_t one_row[] = {1, 2, 1, 3};
    static const int32_t two[] = {1, 2, 2, 3};
    static const int32_t empty[] = {1, 2, 0, 3};
    static const uint8_t plain[] = {0, 1, 2, 3};
    static const uint8_t last[] = {0, 2, 3, 1};
    static const uint8_t declared[] = {0, 2, 1, 3};
    static const uint8_t turned[] = {3, 2, 1, 0};
    subject_t subject;
    start(&subject, "ambiguous.pte");
    CHECK_EQ(set_laid_out(&subject, one_channel, plain), EMBER_OK);
    CHECK(subject_input(&subject, 0)[5] == 6);
    CHECK_EQ(set_laid_out(&subject, one_channel, last), EMBER_OK);
    CHECK_EQ(set_laid_out(&subject, one_channel, turned), EMBER_BAD_ARGUMENT);
    CHECK_EQ(set_laid_out(&subject, one_row, plain), EMBER_OK);
    CHECK_EQ(set_laid_out(&subject, one_row, last), EMBER_BAD_ARGUMENT);
    CHECK_EQ(set_laid_out(&subject, two, declared), EMBER_OK);
    CHECK_EQ(set_laid_out(&subject, two, plain), EMBER_BAD_ARGUMENT);
    CHECK_EQ(set_laid_out(&subject, two, last), EMBER_BAD_ARGUMENT);
    CHECK_EQ(set_laid_out(&subject, empty, turned), EMBER_OK);
    subject_close(&subject);
}

static void caller_binds_memory(void) {
    subject_t subject;
    start(&subject, "bound_by_caller.pte");
    for (int turn = 0; turn < 2; turn++) { // a failure is not taken for a success
        CHECK_EQ(execute(&subject), EMBER_BAD_ARGUMENT);
        CHECK_EQ(subject.error.instruction, 0);
    }
    float *a = test_alloc(8), *b = test_alloc(8), *y = test_alloc(8);
    a[0] = 1, a[1] = 2, b[0] = 10, b[1] = 20;
    CHECK_EQ(set(&subject, 0, 2, a), EMBER_OK);
    CHECK_EQ(set(&subject, 1, 2, b), EMBER_OK);
    CHECK(subject_input(&subject, 0) == a);
    CHECK_EQ(execute(&subject), EMBER_BAD_ARGUMENT);
    CHECK_EQ(subject.error.instruction, 1);
    CHECK_EQ(ember_method_set_output(&subject.method, 0, y, 7, NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_set_output(&subject.method, 1, y, 8, NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_set_output(&subject.method, 0, (uint8_t *)y + 2, 8, NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_set_output(&subject.method, 0, y, 8, NULL), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(y[0] == 21 && y[1] == 42);

    // The same memory again costs nothing.
    toy_prepares = 0;
    CHECK_EQ(set(&subject, 0, 2, a), EMBER_OK);
    CHECK_EQ(set(&subject, 1, 2, b), EMBER_OK);
    CHECK_EQ(ember_method_set_output(&subject.method, 0, y, 8, NULL), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(toy_prepares, 0);

    // Other memory prepares the nodes that use it; the old one may be gone.
    float *other = test_alloc(8);
    other[0] = 5, other[1] = 6;
    CHECK_EQ(set(&subject, 0, 2, other), EMBER_OK);
    test_free(a);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(y[0] == 25 && y[1] == 46);
    CHECK_EQ(toy_prepares, 1);
    CHECK_EQ(set(&subject, 1, 2, other), EMBER_OK);
    test_free(b);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(toy_prepares, 3);
    CHECK(y[0] == 15 && y[1] == 18);
    subject_close(&subject);
}

static void planned_outputs_are_not_bound(void) {
    subject_t subject;
    float y[8];
    start(&subject, "add.pte");
    CHECK_EQ(ember_method_set_output(&subject.method, 0, y, sizeof(y), NULL),
             EMBER_BAD_ARGUMENT);
    subject_close(&subject);
}

static void scalars_are_set(void) {
    subject_t subject;
    start(&subject, "scalars.pte");
    const ember_value_t half = {.kind = EMBER_DOUBLE, .as_double = 0.25};
    const ember_value_t none = {.kind = EMBER_NONE};
    const ember_value_t number = {.kind = EMBER_INT, .as_int = 3};
    CHECK_EQ(ember_method_set_input(&subject.method, 1, &half, NULL), EMBER_OK);
    CHECK_EQ(ember_method_set_input(&subject.method, 3, &none, NULL), EMBER_OK);
    CHECK_EQ(ember_method_set_input(&subject.method, 1, &number, NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_set_input(&subject.method, 2, &number, NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_set_input(&subject.method, 3, &number, NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_set_input(&subject.method, 4, &number, NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[0] == 0.25f);
    CHECK_EQ(toy_prepares, 2); // fill, and the probe that reads all of them
    CHECK_EQ(ember_method_set_input(&subject.method, 1, &half, NULL), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(toy_prepares, 2);
    ember_value_t value;
    CHECK_EQ(ember_method_output(&subject.method, 3, &value), EMBER_OK);
    CHECK(value.kind == EMBER_BOOL && value.as_bool);
    CHECK_EQ(ember_method_input(&subject.method, 9, &value), EMBER_BAD_ARGUMENT);
    subject_close(&subject);
}

static ember_status_t lend(subject_t *subject, const char *name, void *data,
                           size_t size) {
    return ember_method_set_attribute(&subject->method, name, data, size,
                                      &subject->error);
}

static void attributes_are_lent(void) {
    subject_t subject;
    start(&subject, "attribute.pte");
    CHECK_EQ(execute(&subject), EMBER_BAD_ARGUMENT);
    float *total = test_alloc(8), *other = test_alloc(8);
    CHECK_EQ(lend(&subject, "total", total, 8), EMBER_NOT_FOUND);
    CHECK_EQ(subject.error.status, EMBER_NOT_FOUND);
    CHECK_EQ(lend(&subject, "y", total, 8), EMBER_BAD_ARGUMENT);
    CHECK_EQ(lend(&subject, "count.total", total, 7), EMBER_BAD_ARGUMENT);
    CHECK_EQ(lend(&subject, "count.total", (uint8_t *)total + 2, 8),
             EMBER_BAD_ARGUMENT);
    total[0] = 5, total[1] = 0;
    CHECK_EQ(lend(&subject, "count.total", total, 8), EMBER_OK);
    subject_input(&subject, 0)[0] = 1, subject_input(&subject, 0)[1] = 2;
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(total[0] == 7 && total[1] == 4);
    ember_value_t value = {.kind = EMBER_NONE};
    CHECK_EQ(ember_method_attribute(&subject.method, "count.total", &value), EMBER_OK);
    CHECK(value.kind == EMBER_TENSOR && value.as_tensor.data == total);
    CHECK_EQ(ember_method_attribute(&subject.method, "x", &value), EMBER_NOT_FOUND);

    // Another user's state.
    other[0] = other[1] = 100;
    CHECK_EQ(lend(&subject, "count.total", other, 8), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(other[0] == 101 && other[1] == 102 && total[0] == 7);
    CHECK(subject_output(&subject, 0)[1] == 102);
    subject_close(&subject);

    start(&subject, "counter.pte");
    CHECK_EQ(ember_method_attribute(&subject.method, "state", &value), EMBER_OK);
    CHECK(value.as_tensor.data == subject_output(&subject, 0)); // the first of all
    subject_close(&subject);
}

static void constants_are_nobodys(void) {
    subject_t subject;
    float data[2] = {1, 2};
    start(&subject, "constant_edges.pte");
    CHECK_EQ(set(&subject, 0, 2, data), EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_set_output(&subject.method, 1, data, sizeof(data), NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[1] == 9);
    subject_close(&subject);
}

static void scalars_have_no_memory(void) {
    subject_t subject;
    float data[2] = {1, 2};
    ember_value_t value;
    start(&subject, "bool_input.pte");
    CHECK_EQ(set(&subject, 1, 2, data), EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_set_output(&subject.method, 1, data, sizeof(data), NULL),
             EMBER_BAD_ARGUMENT);
    CHECK_EQ(ember_method_attribute(&subject.method, "x", &value), EMBER_NOT_FOUND);
    subject_close(&subject);
}

// An input that a call makes a view of something else has nothing to be written to.
static void inputs_that_become_views_are_refused(void) {
    subject_t subject;
    float data[2] = {1, 2};
    start(&subject, "viewed_input.pte");
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK_EQ(set(&subject, 0, 2, data), EMBER_BAD_ARGUMENT);
    subject_close(&subject);
}

static void views_of_others_stay(void) {
    subject_t subject;
    float a[2] = {1, 2}, b[2] = {10, 20}, c[2] = {100, 200};
    start(&subject, "two_views.pte");
    CHECK_EQ(set(&subject, 0, 2, a), EMBER_OK);
    CHECK_EQ(set(&subject, 1, 2, b), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[1] == 22);
    CHECK_EQ(set(&subject, 0, 2, c), EMBER_OK);
    CHECK_EQ(execute(&subject), EMBER_OK);
    CHECK(subject_output(&subject, 0)[1] == 220);
    subject_close(&subject);
}

static void an_input_may_be_given_to_itself(void) {
    subject_t subject;
    start(&subject, "dynamic.pte");
    float *x = subject_input(&subject, 0);
    x[0] = 7;
    CHECK_EQ(set(&subject, 0, 4, x), EMBER_OK);
    CHECK(subject_input(&subject, 0) == x && x[0] == 7);
    CHECK_EQ(set(&subject, 0, 0, x + 1), EMBER_OK);
    CHECK(x[0] == 7);
    subject_close(&subject);
}

static void lent_memory_may_be_of_any_size(void) {
    subject_t subject;
    float y[2];
    start(&subject, "bound_by_caller.pte");
    CHECK_EQ(ember_method_set_output(&subject.method, 0, y, SIZE_MAX, NULL), EMBER_OK);
    CHECK_EQ(ember_method_set_output(&subject.method, 0, y, SIZE_MAX, NULL), EMBER_OK);
    subject_close(&subject);
}

TESTS(TEST(planned_inputs_are_copied), TEST(wrong_tensors_are_refused),
      TEST(orders_of_the_same_memory_are_one), TEST(caller_binds_memory),
      TEST(planned_outputs_are_not_bound), TEST(scalars_are_set),
      TEST(attributes_are_lent), TEST(constants_are_nobodys),
      TEST(scalars_have_no_memory), TEST(inputs_that_become_views_are_refused),
      TEST(views_of_others_stay), TEST(an_input_may_be_given_to_itself),
      TEST(lent_memory_may_be_of_any_size))
