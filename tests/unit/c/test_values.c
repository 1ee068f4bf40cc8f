// SPDX-License-Identifier: Apache-2.0
// Every kind of value through the accessors of node.h, and their refusals.
#include <string.h>

#include "check.h"
#include "method_state.h"
#include "subject.h"
#include "toys.h"

// Arguments of kinds.pte
enum {
    NONE,
    INT,
    BOOL,
    DOUBLE,
    TENSOR,
    STRING,
    INTS,
    DOUBLES,
    BOOLS,
    TENSORS,
    OPTIONALS,
    BIG,
    OUT,
    RETURN,
    END
};

static ember_status_t load_with(void (*probe)(ember_node_t *node), subject_t *subject) {
    toy_probe = probe;
    CHECK_EQ(subject_open(subject, "kinds.pte"), EMBER_OK);
    const ember_status_t status = subject_load(subject, "forward", &toy_registry);
    if (status == EMBER_OK) {
        subject_close(subject);
    }
    return status;
}

static void read_scalars(ember_node_t *node) {
    CHECK_EQ(ember_node_arg_count(node), END);
    for (uint32_t i = NONE; i <= OPTIONALS; i++) {
        CHECK_EQ(ember_node_kind(node, i), EMBER_NONE + i);
    }
    CHECK_EQ(ember_node_kind(node, END), EMBER_NONE);
    CHECK_EQ(ember_node_kind(node, UINT32_MAX), EMBER_NONE);
    CHECK_EQ(ember_node_int(node, INT), 3);
    CHECK_EQ(ember_node_int(node, BOOL), 1);
    CHECK_EQ(ember_node_int(node, BIG), -((int64_t)1 << 40));
    CHECK_EQ(ember_node_int_or(node, NONE, 77), 77);
    CHECK_EQ(ember_node_int_or(node, INT, 77), 3);
    CHECK_EQ(ember_node_int_in(node, INT, 3, 3), 3);
    CHECK(ember_node_bool(node, BOOL));
    CHECK(ember_node_bool(node, INT));
    CHECK(ember_node_double(node, DOUBLE) == -2.5);
    CHECK(ember_node_double(node, INT) == 3.0);
    CHECK(ember_node_double(node, BOOL) == 1.0);
    CHECK_EQ(ember_node_scalar(node, DOUBLE).kind, EMBER_DOUBLE);
    CHECK_EQ(ember_node_scalar(node, BOOL).kind, EMBER_BOOL);
    CHECK_EQ(ember_node_dim(node, INT, 4), 3);
    uint32_t length;
    CHECK(memcmp(ember_node_string(node, STRING, &length), "nearest", 7) == 0);
    CHECK_EQ(length, 7);
    CHECK_EQ(ember_node_status(node), EMBER_OK);
}

static void scalars_are_read(void) {
    subject_t subject;
    CHECK_EQ(load_with(read_scalars, &subject), EMBER_OK);
}

static void read_lists(ember_node_t *node) {
    ember_tensor_t x;
    CHECK_EQ(ember_node_list_count(node, NONE), 0);
    CHECK_EQ(ember_node_list_count(node, INTS), 2);
    CHECK_EQ(ember_node_list_int(node, INTS, 0), 3);
    CHECK_EQ(ember_node_list_int(node, INTS, 1), -((int64_t)1 << 40));
    CHECK(ember_node_list_double(node, INTS, 0) == 3.0);
    CHECK_EQ(ember_node_list_count(node, DOUBLES), 2);
    CHECK(ember_node_list_double(node, DOUBLES, 1) == -0.25);
    CHECK_EQ(ember_node_list_count(node, BOOLS), 3);
    CHECK(ember_node_list_bool(node, BOOLS, 0));
    CHECK(!ember_node_list_bool(node, BOOLS, 1));
    CHECK(ember_node_list_tensor(node, TENSORS, 0, &x));
    CHECK_EQ(x.numel, 2);
    CHECK(ember_node_list_tensor(node, TENSORS, 1, &x));
    CHECK_EQ(x.numel, 1);
    CHECK_EQ(ember_node_list_count(node, OPTIONALS), 2);
    CHECK(ember_node_list_tensor(node, OPTIONALS, 0, &x));
    CHECK(!ember_node_list_tensor(node, OPTIONALS, 1, &x));
    CHECK(x.data == NULL && x.sizes == NULL);
    CHECK_EQ(ember_node_status(node), EMBER_OK);
}

static void lists_are_read(void) {
    subject_t subject;
    CHECK_EQ(load_with(read_lists, &subject), EMBER_OK);
}

static void read_tensors(ember_node_t *node) {
    static const int32_t two[] = {2};
    ember_tensor_t x, y;
    CHECK(!ember_node_optional_tensor(node, NONE, &x));
    CHECK(ember_node_optional_tensor(node, TENSOR, &x));
    CHECK(x.data != NULL && x.rank == 1 && x.sizes[0] == 2 && x.dtype == EMBER_F32);
    CHECK(!x.constant && x.element_size == 4);
    ember_node_output(node, OUT, 1, two, &y);
    CHECK(y.data != NULL && y.data != x.data);
    ember_node_output_like(node, OUT, &x, &y);
    ember_node_inout(node, OUT, &y);
    CHECK_EQ(y.numel, 2);
    CHECK(ember_node_scratch(node, 100) != NULL);
    CHECK_EQ(ember_node_status(node), EMBER_OK);
}

static void tensors_are_read(void) {
    subject_t subject;
    CHECK_EQ(load_with(read_tensors, &subject), EMBER_OK);
    CHECK_EQ(subject.method.temp_used, 100);
}

// Each refusal is a probe of its own, because the first failure sticks.
static uint32_t refusal;
static uint32_t refusals;

#define CASE(statement)                                                                \
    if (refusal == next++) {                                                           \
        statement;                                                                     \
    }

static uint32_t refuse_values(ember_node_t *node, uint32_t next) {
    ember_tensor_t x;
    uint32_t length;
    CASE(ember_node_int(node, NONE))
    CASE(ember_node_int(node, DOUBLE))
    CASE(ember_node_int(node, TENSOR))
    CASE(ember_node_int(node, END))
    CASE(ember_node_bool(node, STRING))
    CASE(ember_node_double(node, INTS))
    CASE(ember_node_scalar(node, NONE))
    CASE((void)ember_node_int_in(node, BIG, 0, 10))
    CASE((void)ember_node_int_in(node, INT, 4, 10))
    CASE(ember_node_dim(node, INT, 3))
    CASE(ember_node_dim(node, BIG, 3))
    CASE(ember_node_dim(node, INT, 0))
    CASE(ember_node_string(node, INT, &length))
    CASE(ember_node_tensor(node, NONE, &x))
    CASE(ember_node_tensor(node, INT, &x))
    CASE(ember_node_tensor(node, TENSORS, &x))
    CASE(ember_node_tensor(node, END, &x))
    CASE(ember_node_optional_tensor(node, STRING, &x))
    return next;
}

static uint32_t refuse_lists(ember_node_t *node, uint32_t next) {
    ember_tensor_t x;
    CASE(ember_node_list_count(node, INT))
    CASE(ember_node_list_int(node, INTS, 2))
    CASE(ember_node_list_int(node, DOUBLES, 0))
    CASE(ember_node_list_int(node, INT, 0))
    CASE(ember_node_list_double(node, BOOLS, 0))
    CASE(ember_node_list_double(node, DOUBLES, UINT32_MAX))
    CASE(ember_node_list_bool(node, INTS, 0))
    CASE(ember_node_list_bool(node, BOOLS, 3))
    CASE(ember_node_list_bool(node, NONE, 0))
    CASE(ember_node_list_tensor(node, INTS, 0, &x))
    CASE(ember_node_list_tensor(node, TENSORS, 2, &x))
    CASE(ember_node_list_tensor(node, TENSOR, 0, &x))
    return next;
}

static uint32_t refuse_outputs(ember_node_t *node, uint32_t next) {
    static const int32_t sizes[] = {3, 3, 3};
    ember_tensor_t x;
    int32_t numbers[8];
    CASE(ember_node_list_output(node, OPTIONALS, 1, 1, sizes, &x))
    CASE(ember_node_list_output(node, TENSORS, 0, 1, sizes, &x))
    CASE(ember_node_list_output(node, TENSORS, 5, 1, sizes, &x))
    CASE(ember_node_output(node, OUT, 1, sizes, &x))
    CASE(ember_node_output(node, OUT, 3, sizes, &x))
    CASE(ember_node_output(node, OUT, 0, NULL, &x))
    CASE(ember_node_output(node, INT, 1, sizes, &x))
    CASE(ember_node_output(node, END, 1, sizes, &x))
    CASE(ember_node_inout(node, STRING, &x))
    CASE((void)ember_node_slot(node, TENSOR))
    CASE((void)ember_node_slot(node, INT))
    CASE((void)ember_node_slot(node, END))
    CASE(ember_node_bind(node, OUT, 1, sizes, &x))
    CASE(ember_node_ints(node, DOUBLES, numbers, 8))
    CASE(ember_node_ints(node, TENSORS, numbers, 8))
    return next;
}
#undef CASE

static void refuse(ember_node_t *node) {
    const uint32_t values = refuse_values(node, 0);
    const uint32_t lists = refuse_lists(node, values);
    refusals = refuse_outputs(node, lists);
    if (refusal < refusals) {
        CHECK_EQ(ember_node_status(node), EMBER_BAD_PROGRAM);
        if (ember_node_status(node) == EMBER_OK) {
            check_log(refusal);
        }
    }
}

static void wrong_kinds_are_refused(void) {
    refusals = 1;
    for (refusal = 0; refusal < refusals; refusal++) {
        subject_t subject;
        CHECK_EQ(load_with(refuse, &subject), EMBER_BAD_PROGRAM);
        CHECK_EQ(subject.error.status, EMBER_BAD_PROGRAM);
        CHECK_EQ(subject.error.instruction, 0);
    }
    CHECK(refusals > 40);
}

static void read_ints(ember_node_t *node) {
    int32_t items[2] = {7, 7};
    CHECK_EQ(ember_node_ints(node, INTS, items, 1), 0);
    CHECK_EQ(ember_node_status(node), EMBER_UNSUPPORTED);
}

static void read_big_ints(ember_node_t *node) {
    int32_t items[2] = {7, 7};
    CHECK_EQ(ember_node_ints(node, NONE, items, 2), 0);
    CHECK_EQ(ember_node_status(node), EMBER_OK);
    (void)ember_node_ints(node, INTS, items, 2);
    CHECK_EQ(ember_node_status(node), EMBER_BAD_PROGRAM);
}

static void int_lists_are_bounded(void) {
    subject_t subject;
    CHECK_EQ(load_with(read_ints, &subject), EMBER_UNSUPPORTED);
    CHECK_EQ(load_with(read_big_ints, &subject), EMBER_BAD_PROGRAM);
}

static void read_zeros(ember_node_t *node) {
    ember_tensor_t x;
    memset(&x, 0xFF, sizeof(x));
    (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "probe: first");
    ember_node_output(node, END, 0, NULL, &x);
    CHECK(x.data == NULL && x.rank == 0 && x.numel == 0);
    CHECK(ember_node_double(node, STRING) == 0);
    CHECK_EQ(ember_node_int(node, INT), 3);
}

static void later_failures_do_not_matter(void) {
    subject_t subject;
    CHECK_EQ(load_with(read_zeros, &subject), EMBER_BAD_PROGRAM);
#if EMBER_ERROR_STRINGS
    CHECK(strcmp(subject.error.message, "probe: first") == 0);
#else
    CHECK(subject.error.message == NULL);
#endif
}

// Old programs have a segment of constants without any, beside those in the file.
static void a_single_offset_is_of_no_constant(void) {
    static const uint32_t offset[] = {1, 0, 0};
    const ember_offsets_t offsets = {(const uint8_t *)offset, {NULL, 0}};
    subject_t subject;
    ember_value_t value;
    ember_plan_tensor_t plan;
    CHECK_EQ(subject_open(&subject, "constants_inline.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    ember_method_t *method = &subject.method;
    const uint8_t *body = ember_method_body(method, 1, &value);
    CHECK(ember_plan_tensor(&method->flat, body, &plan));
    CHECK(plan.buffer > 0 && plan.allocation == NULL);
    CHECK(ember_plan_data(&method->flat, &subject.program, &plan, &offsets) != NULL);
    CHECK_EQ(method->flat.status, EMBER_OK);
    subject_close(&subject);
}

TESTS(TEST(a_single_offset_is_of_no_constant), TEST(scalars_are_read),
      TEST(lists_are_read), TEST(tensors_are_read), TEST(wrong_kinds_are_refused),
      TEST(int_lists_are_bounded), TEST(later_failures_do_not_matter))
