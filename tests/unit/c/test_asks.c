// SPDX-License-Identifier: Apache-2.0
// What accessors answer at the ends of their ranges, and the work that kernels state.
#include <string.h>

#include "check.h"
#include "node_args.h"
#include "subject.h"
#include "toys.h"

// Arguments of asks.pte
enum { ZERO, MINUS, MINUS_TWO, TWO, NONE, STRING, INTS, DOUBLES, BOOLS, X, OUT };

static void load_with(void (*probe)(ember_node_t *node), const char *name,
                      subject_t *subject) {
    toy_probe = probe;
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    CHECK_EQ(subject_load(subject, "forward", &toy_registry), EMBER_OK);
    toy_probe = NULL;
}

static void ask_dims(ember_node_t *node) {
    CHECK_EQ(ember_node_dim(node, ZERO, 0), 0); // as if there were one
    CHECK_EQ(ember_node_dim(node, MINUS, 0), 0);
    CHECK_EQ(ember_node_dim(node, MINUS, 3), 2);
    CHECK_EQ(ember_node_dim(node, MINUS_TWO, 3), 1);
    CHECK_EQ(ember_node_dim(node, TWO, 3), 2);
    CHECK_EQ(ember_node_dim(node, ZERO, 3), 0);
    CHECK_EQ(ember_node_status(node), EMBER_OK);
}

static void dims_count_from_both_ends(void) {
    subject_t subject;
    load_with(ask_dims, "asks.pte", &subject);
    subject_close(&subject);
}

static bool is_zero(const ember_tensor_t *tensor) {
    static const ember_tensor_t zero;
    return tensor->data == NULL && tensor->sizes == NULL && tensor->dim_order == NULL &&
           tensor->numel == zero.numel && tensor->dtype == 0 && tensor->rank == 0 &&
           tensor->element_size == 0 && !tensor->constant;
}

static void ask_for_nothing(ember_node_t *node) {
    ember_tensor_t x;
    memset(&x, 0xA5, sizeof(x));
    CHECK(!ember_node_optional_tensor(node, NONE, &x));
    CHECK(is_zero(&x));
    CHECK_EQ(ember_node_status(node), EMBER_OK);
}

static void what_is_absent_reads_as_zero(void) {
    subject_t subject;
    load_with(ask_for_nothing, "asks.pte", &subject);
    subject_close(&subject);
}

// What a wrong kind reads as, and that it is noted.
static uint32_t wrong;

static void ask_wrongly(ember_node_t *node) {
    static const int32_t sizes[EMBER_MAX_RANK] = {2};
    ember_tensor_t x;
    uint32_t length = 77;
    memset(&x, 0xA5, sizeof(x));
    switch (wrong) {
    case 0:
        CHECK_EQ(ember_node_string(node, INTS, &length)[0], 0);
        CHECK_EQ(length, 0);
        break;
    case 1:
        CHECK(!ember_node_list_bool(node, INTS, 0));
        break;
    case 2:
        CHECK(!ember_node_list_bool(node, BOOLS, 1)); // there is one only
        break;
    case 3:
        CHECK_EQ(ember_node_list_int(node, DOUBLES, 0), 0);
        break;
    case 4:
        CHECK_EQ(ember_node_list_count(node, X), 0);
        break;
    case 5:
        CHECK_EQ(ember_node_list_index(node, INTS, 0), UINT32_MAX);
        break;
    case 6:
        CHECK(!ember_node_list_tensor(node, DOUBLES, 0, &x));
        CHECK(is_zero(&x));
        break;
    case 7:
        ember_node_output(node, OUT, EMBER_MAX_RANK - 1, sizes, &x);
        break;
    case 8: {
        const ember_value_t past = ember_node_scalar(node, 99);
        CHECK_EQ(past.kind, EMBER_INT);
        CHECK_EQ(past.as_int, 0);
        break;
    }
    default:
        ember_node_tensor(node, INTS, &x);
        CHECK(is_zero(&x));
        break;
    }
    CHECK_EQ(ember_node_status(node), EMBER_BAD_PROGRAM);
}

static void wrong_kinds_read_as_nothing(void) {
    subject_t subject;
    toy_probe = ask_wrongly;
    for (wrong = 0; wrong < 10; wrong++) {
        CHECK_EQ(subject_open(&subject, "asks.pte"), EMBER_OK);
        CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_BAD_PROGRAM);
    }
    toy_probe = NULL;
}

// --- work ----------------------------------------------------------------------------

static void state_work(ember_node_t *node) {
    ember_node_work(node, 3, 5);
    ember_node_work(node, 1, 7);
}

static void work_of_all_calls_is_added(void) {
    subject_t subject;
    enum { CALL = 3 * 5 + 7 + EMBER_CALL_STEPS };
    load_with(state_work, "asks.pte", &subject);
    CHECK_EQ(subject.method.work, CALL);
    CHECK_EQ(subject.method.volatile_work, 0);
    CHECK_EQ(subject.method.temp_used, 0);
    ember_method_set_budget(&subject.method, CALL - 1);
    CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_BUDGET);
    ember_method_set_budget(&subject.method, CALL);
    CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_OK);
    subject_close(&subject);
    load_with(state_work, "asks_twice.pte", &subject);
    CHECK_EQ(subject.method.work, 2 * CALL);
    subject_close(&subject);
}

static void ask_for_scratch(ember_node_t *node) {
    CHECK(ember_node_scratch(node, 64) != NULL);
    CHECK(ember_node_scratch(node, 16) != NULL);
}

static void the_largest_scratch_counts(void) {
    subject_t subject;
    load_with(ask_for_scratch, "asks.pte", &subject);
    CHECK_EQ(subject.method.temp_used, 64);
    subject_close(&subject);
}

static void ask_for_two_blocks(ember_node_t *node) {
    uint8_t *first = ember_node_scratch_before(node, 24);
    uint8_t *second = ember_node_scratch_before(node, 16);
    CHECK(first == node->method->temp.data);
    CHECK(second == first + 32);
    CHECK(ember_node_scratch(node, 64) == second + 16);
    CHECK(ember_node_scratch(node, 64) == second + 16);
    CHECK_EQ(ember_node_status(node), EMBER_OK);
}

static void blocks_of_scratch_follow_each_other(void) {
    subject_t subject;
    load_with(ask_for_two_blocks, "asks.pte", &subject);
    CHECK_EQ(subject.method.temp_used, 32 + 16 + 64);
    subject_close(&subject);
}

static void spend_all_credit(ember_node_t *node) {
    node->method->credit = 2;
    CHECK_EQ(ember_node_list_count(node, INTS), 2);
    CHECK_EQ(node->method->credit, 0);
    CHECK_EQ(ember_node_status(node), EMBER_OK);
}

static void credit_may_be_spent_to_the_last(void) {
    subject_t subject;
    load_with(spend_all_credit, "asks.pte", &subject);
    subject_close(&subject);
}

static uint32_t unbound;

static void ask_for_what_is_not_bound(ember_node_t *node) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    unbound += x.data == NULL;
    CHECK_EQ(ember_node_status(node), EMBER_OK); // until it runs
}

static void what_is_not_bound_yet_is_no_failure(void) {
    subject_t subject;
    unbound = 0;
    load_with(ask_for_what_is_not_bound, "asks_unbound.pte", &subject);
    CHECK(unbound > 0);
    subject_close(&subject);
}

static void work_has_a_most(void) {
    uint64_t work = 0;
    ember_work_add(&work, EMBER_MOST_WORK - 1);
    CHECK(work == EMBER_MOST_WORK - 1);
    ember_work_add(&work, 1);
    CHECK(work == EMBER_MOST_WORK);
    ember_work_add(&work, UINT64_C(1) << 63);
    CHECK(work == EMBER_MOST_WORK);
}

static uint32_t places_of(int32_t first, int32_t second, int32_t third) {
    const int32_t sizes[] = {first, second, third};
    const ember_tensor_t tensor = {.sizes = sizes, .rank = 3};
    return ember_node_places(&tensor);
}

// Sizes of 0 do not hide what the others come to: places are counted in 32 bits.
static void empty_shapes_have_bounds(void) {
    static const uint32_t fits[] = {3, 0, 65536, 32767};
    static const uint32_t exceeds[] = {3, 0, 65536, 32768};
    static const uint32_t order[] = {3, 0x020100};
    ember_tensor_t tensor;
    CHECK(ember_plan_shape(&tensor, (ember_vector_t)fits, (ember_vector_t)order));
    CHECK_EQ(tensor.numel, 0);
    CHECK(!ember_plan_shape(&tensor, (ember_vector_t)exceeds, (ember_vector_t)order));
}

static void empty_dimensions_are_walked_once(void) {
    CHECK_EQ(places_of(2, 3, 5), 30);
    CHECK_EQ(places_of(2, 0, 5), 10);
    CHECK_EQ(places_of(7, 0, 0), 7);
    CHECK_EQ(places_of(0, INT32_MAX, 1), INT32_MAX);
    CHECK_EQ(ember_node_places(&(ember_tensor_t){.rank = 0}), 1);
}

// Of the loop three rounds come again, from instruction 2 on.
static void a_loop_costs_what_comes_again(void) {
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "loop.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    const uint64_t once = subject.method.work;
    const uint64_t budget = once + 3 * (once - subject.method.work_before[2]);
    ember_method_set_budget(&subject.method, budget - 1);
    CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_BUDGET);
    ember_method_set_budget(&subject.method, budget);
    CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_OK);
    subject_close(&subject);
}

static void calls_that_change_state_theirs_apart(void) {
    subject_t subject;
    load_with(state_work, "changing.pte", &subject);
    CHECK_EQ(subject.method.volatile_work, 3 * 5 + 7);
    subject_close(&subject);
}

// Steps of each call of a probe, and an integer of which they depend.
static uint32_t times;

static void state_times(ember_node_t *node) {
    ember_node_work(node, times, 2);
}

static ember_status_t execute_after_change(subject_t *subject, uint32_t now) {
    static int64_t number;
    const ember_value_t value = {.kind = EMBER_INT, .as_int = ++number};
    times = now;
    CHECK_EQ(ember_method_set_input(&subject->method, 1, &value, NULL), EMBER_OK);
    return ember_method_execute(&subject->method, NULL);
}

static void calls_are_charged_as_they_are_prepared(void) {
    subject_t subject;
    ember_method_t *method = &subject.method;
    times = 50;
    load_with(state_times, "changing.pte", &subject);
    toy_probe = state_times;
    const uint64_t fixed = method->work;
    ember_method_set_budget(method, fixed + 100);
    CHECK_EQ(execute_after_change(&subject, 50), EMBER_OK);
    CHECK_EQ(method->left, 0);
    CHECK_EQ(ember_method_execute(method, NULL), EMBER_OK); // not prepared again
    CHECK_EQ(method->left, 0);
    CHECK_EQ(execute_after_change(&subject, 51), EMBER_BUDGET);
    CHECK_EQ(execute_after_change(&subject, 20), EMBER_OK);
    CHECK_EQ(method->left, 60);
    ember_method_set_budget(method, fixed + 39); // over it, unless that has changed
    CHECK_EQ(ember_method_execute(method, NULL), EMBER_BUDGET);
    ember_method_set_budget(method, fixed + 40);
    CHECK_EQ(ember_method_execute(method, NULL), EMBER_OK);
    ember_method_set_budget(method, fixed + 10);
    CHECK_EQ(execute_after_change(&subject, 5), EMBER_OK);
    CHECK_EQ(method->left, 0);
    ember_method_set_budget(method, fixed - 1);
    CHECK_EQ(ember_method_execute(method, NULL), EMBER_BUDGET);
    toy_probe = NULL;
    subject_close(&subject);
}

static void the_longest_calls_are_charged_each_time(void) {
    subject_t subject;
    ember_method_t *method = &subject.method;
    times = UINT32_MAX;
    load_with(state_times, "changing.pte", &subject);
    toy_probe = state_times;
    const uint64_t fixed = method->work;
    const uint64_t longest = 2 * (uint64_t)UINT32_MAX;
    for (uint32_t turn = 0; turn < 2; turn++) {
        ember_method_set_budget(method, fixed + longest);
        CHECK_EQ(ember_method_execute(method, NULL), EMBER_OK);
        CHECK_EQ(method->left, 0);
        CHECK_EQ(method->work, fixed);
        ember_method_set_budget(method, fixed + longest - 1);
        CHECK_EQ(ember_method_execute(method, NULL), EMBER_BUDGET);
    }
    toy_probe = NULL;
    subject_close(&subject);
}

static uint32_t prepares;

static void count_prepares(ember_node_t *node) {
    prepares++;
    ember_node_work(node, times, 1);
}

// A call that did not change is not prepared again, and charged each time.
static void budgets_have_64_bits(void) {
    subject_t subject;
    ember_method_t *method = &subject.method;
    const uint64_t upper = UINT64_C(1) << 32;
    times = 7;
    load_with(count_prepares, "changing.pte", &subject);
    toy_probe = count_prepares;
    CHECK_EQ(ember_method_execute(method, NULL), EMBER_OK);
    prepares = 0;
    for (uint64_t spare = 0; spare < 10; spare++) {
        ember_method_set_budget(method, method->work + upper + spare);
        CHECK_EQ(ember_method_execute(method, NULL), EMBER_OK);
        CHECK_EQ(method->left, upper + spare - 7);
        ember_method_set_budget(method, method->work + spare);
        CHECK_EQ(ember_method_execute(method, NULL),
                 spare < 7 ? EMBER_BUDGET : EMBER_OK);
    }
    CHECK_EQ(prepares, 0);
    toy_probe = NULL;
    subject_close(&subject);
}

static void state_rounds(ember_node_t *node) {
    ember_node_work(node, 1 + (uint32_t)ember_node_int(node, 0), 10);
}

// Three rounds of 10, 20 and 30 steps, whatever they were in the last run.
static void a_loop_charges_calls_that_change(void) {
    subject_t subject;
    ember_method_t *method = &subject.method;
    load_with(state_rounds, "costly_loop.pte", &subject);
    toy_probe = state_rounds;
    const uint64_t round = method->work - method->work_before[1];
    const uint64_t least = method->work + 3 * round + 10 + 20 + 30;
    const uint64_t refund = method->work - method->work_before[3];
    for (uint32_t turn = 0; turn < 3; turn++) {
        ember_method_set_budget(method, least + 100);
        CHECK_EQ(ember_method_execute(method, NULL), EMBER_OK);
        CHECK_EQ(method->left, 100 + refund);
        ember_method_set_budget(method, least - refund - 1);
        CHECK_EQ(ember_method_execute(method, NULL), EMBER_BUDGET);
    }
    toy_probe = NULL;
    subject_close(&subject);
}

static void scalars_are_not_planned(void) {
    subject_t subject;
    ember_value_t value;
    bool planned = true;
    CHECK_EQ(subject_open(&subject, "doubled.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    CHECK_EQ(ember_method_meta_input(&subject.method.meta, 0, &value, &planned),
             EMBER_OK);
    CHECK(!planned && value.as_double == 0.75);
    subject_close(&subject);
}

// --- doubles that change -------------------------------------------------------------

static void doubles_are_kept_in_all_bits(void) {
    subject_t subject;
    ember_value_t value;
    CHECK_EQ(subject_open(&subject, "doubled.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_OK);
    for (uint32_t i = 1; i <= 2; i++) {
        CHECK_EQ(ember_method_output(&subject.method, i, &value), EMBER_OK);
        CHECK_EQ(value.kind, EMBER_DOUBLE);
        CHECK(value.as_double == (i == 1 ? 0.75 : -3.5));
    }
    CHECK(subject_output(&subject, 0)[0] == -3.5f);
    value = (ember_value_t){.kind = EMBER_DOUBLE, .as_double = 1e300};
    CHECK_EQ(ember_method_set_input(&subject.method, 1, &value, NULL), EMBER_OK);
    CHECK_EQ(ember_method_output(&subject.method, 2, &value), EMBER_OK);
    CHECK(value.as_double == 1e300);
    ember_slot_t *slot = ember_method_slot(&subject.method, 1);
    CHECK(slot != NULL);
    ember_slot_set_double(slot, -0.125);
    CHECK_EQ(ember_method_output(&subject.method, 2, &value), EMBER_OK);
    CHECK(value.as_double == -0.125);
    subject_close(&subject);
}

TESTS(TEST(a_loop_costs_what_comes_again), TEST(calls_that_change_state_theirs_apart),
      TEST(calls_are_charged_as_they_are_prepared),
      TEST(the_longest_calls_are_charged_each_time), TEST(budgets_have_64_bits),
      TEST(a_loop_charges_calls_that_change), TEST(scalars_are_not_planned),
      TEST(dims_count_from_both_ends), TEST(what_is_absent_reads_as_zero),
      TEST(wrong_kinds_read_as_nothing), TEST(work_of_all_calls_is_added),
      TEST(the_largest_scratch_counts), TEST(blocks_of_scratch_follow_each_other),
      TEST(credit_may_be_spent_to_the_last), TEST(what_is_not_bound_yet_is_no_failure),
      TEST(work_has_a_most), TEST(empty_shapes_have_bounds),
      TEST(empty_dimensions_are_walked_once), TEST(doubles_are_kept_in_all_bits))
