// SPDX-License-Identifier: Apache-2.0
// What a kernel may ask of arguments that change, in the order of refusals.
#include "check.h"
#include "node_args.h"
#include "subject.h"
#include "toys.h"

// Arguments of changing.pte
enum { X, NUMBER, YES, NONE, STRING, INTS, BOOLS, TENSORS, OUT };

static const int32_t four[] = {4};
static const int32_t five[] = {5};
static uint32_t resized;

static void load_with(void (*probe)(ember_node_t *node), ember_status_t status) {
    subject_t subject;
    toy_probe = probe;
    CHECK_EQ(subject_open(&subject, "changing.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    // What fails in preparing before values are there is told by the run.
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), status);
    subject_close(&subject);
    toy_probe = NULL;
}

static void read_all(ember_node_t *node) {
    ember_tensor_t x;
    CHECK_EQ(ember_node_kind(node, X), EMBER_TENSOR);
    CHECK_EQ(ember_node_kind(node, NUMBER), EMBER_INT);
    CHECK_EQ(ember_node_kind(node, YES), EMBER_BOOL);
    CHECK_EQ(ember_node_kind(node, STRING), EMBER_STRING);
    CHECK_EQ(ember_node_int(node, NUMBER), 3);
    CHECK_EQ(ember_node_int(node, YES), 0);
    CHECK(ember_node_double(node, YES) == 0);
    CHECK_EQ(ember_node_list_int(node, INTS, 0), 3);
    CHECK_EQ(ember_node_list_int(node, INTS, 1), 5);
    CHECK(ember_node_list_tensor(node, TENSORS, 0, &x));
    ember_node_output(node, OUT, 1, four, &x);
    CHECK_EQ(ember_node_status(node), EMBER_OK);
}

static void arguments_that_change_are_read(void) {
    load_with(read_all, EMBER_OK);
}

static void ask_after_a_failure(ember_node_t *node) {
    ember_tensor_t x;
    ember_node_tensor(node, X, &x);
    (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "probe: first");
    ember_node_output(node, OUT, 1, five, &x);
    ember_node_bind(node, OUT, 1, four, &x);
}

static void bind_a_number(ember_node_t *node) {
    ember_tensor_t x;
    ember_node_tensor(node, X, &x);
    ember_node_bind(node, NUMBER, 1, four, &x);
    CHECK_EQ(ember_node_status(node), EMBER_BAD_PROGRAM);
}

static void take_more_than_there_is(ember_node_t *node) {
    ember_tensor_t y;
    ember_node_output(node, OUT, 1, five, &y);
    CHECK_EQ(ember_node_status(node), EMBER_BAD_PROGRAM);
}

static void refusals_are_told_by_the_run(void) {
    load_with(ask_after_a_failure, EMBER_BAD_PROGRAM);
    load_with(bind_a_number, EMBER_BAD_PROGRAM);
    load_with(take_more_than_there_is, EMBER_BAD_PROGRAM);
}

static void resize(ember_node_t *node) {
    ember_slot_t *slot = ember_node_slot(node, OUT);
    ember_slot_t *number = ember_node_slot(node, NUMBER);
    if (slot == NULL || number == NULL) {
        return; // loading tries first whether nothing changes
    }
    CHECK_EQ(ember_slot_resize(slot, 1, four), EMBER_OK);
    CHECK_EQ(ember_slot_resize(slot, 1, five), EMBER_DATA_RANGE);
    CHECK_EQ(ember_slot_resize(slot, 2, four), EMBER_DATA_RANGE);
    CHECK_EQ(ember_slot_resize(number, 1, four), EMBER_DATA_RANGE);
    resized++;
}

static void results_have_bounds(void) {
    resized = 0;
    load_with(resize, EMBER_OK);
    CHECK(resized > 0);
}

static void count_places(ember_node_t *node) {
    static const int32_t sizes[] = {0, 3, 65536, 1, 10922};
    ember_tensor_t shape = {.sizes = sizes, .rank = 2};
    CHECK_EQ(ember_node_places(&shape), 3);
    shape.rank = 3;
    CHECK_EQ(ember_node_places(&shape), 3 * 65536);
    shape.rank = 5;
    CHECK_EQ(ember_node_places(&shape), 3 * 65536 * 10922);
    ember_node_work(node, UINT32_MAX, UINT32_MAX);
    ember_node_work(node, UINT32_MAX, UINT32_MAX);
    ember_node_work(node, UINT32_MAX, UINT32_MAX);
    ember_node_work(node, UINT32_MAX, UINT32_MAX);
    ember_node_work(node, UINT32_MAX, UINT32_MAX);
}

static void work_has_a_most(void) {
    load_with(count_places, EMBER_OK);
}

static void candidates_of_a_changing_call(void) {
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "chosen_later.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    subject_input(&subject, 0)[3] = 5;
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_OK);
    CHECK(subject_output(&subject, 0)[3] == 5);
    ember_method_set_budget(&subject.method, subject.method.work); // nothing for it
    CHECK_EQ(ember_method_execute(&subject.method, &subject.error), EMBER_BUDGET);
    subject_close(&subject);
    CHECK_EQ(subject_open(&subject, "refused_later.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_UNSUPPORTED);
}

static void shared_lists_are_paid_for(void) {
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "long_lists.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_BAD_PROGRAM);
}

TESTS(TEST(arguments_that_change_are_read), TEST(refusals_are_told_by_the_run),
      TEST(results_have_bounds), TEST(work_has_a_most),
      TEST(candidates_of_a_changing_call), TEST(shared_lists_are_paid_for))
