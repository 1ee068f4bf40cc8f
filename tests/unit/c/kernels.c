// SPDX-License-Identifier: Apache-2.0
// Kernels whose like were exploited: et_copy_index (CVE-2025-54949) copied past the
// end of its list, constant_pad_nd wrote past its output. Here their parameters are
// inputs, so that one program tries them all.
#include "check.h"
#include "subject.h"

extern const ember_kernel_t ember_kernel_et_copy_index;
extern const ember_kernel_t ember_kernel_constant_pad_nd;

static const ember_kernel_t *const copies[] = {&ember_kernel_et_copy_index, 0};
static const ember_kernel_t *const pads[] = {&ember_kernel_constant_pad_nd, 0};
static const ember_operator_t items[] = {
    {"aten::constant_pad_nd.out", pads, 4, 5, 0},
    {"executorch_prim::et_copy_index.tensor", copies, 3, 4, 0},
};
static const ember_operators_t operators = {items, 2};
static const ember_registry_t registry = {&operators, NULL, &ember_changing};

static void start(subject_t *subject, const char *name) {
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    CHECK_EQ(subject_load(subject, "forward", &registry), EMBER_OK);
}

static ember_status_t execute(subject_t *subject, uint32_t first,
                              const int64_t *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const ember_value_t number = {.kind = EMBER_INT, .as_int = numbers[i]};
        CHECK_EQ(ember_method_set_input(&subject->method, first + i, &number, NULL),
                 EMBER_OK);
    }
    return ember_method_execute(&subject->method, &subject->error);
}

static void rows_stay_inside_their_list(void) {
    static const int64_t outside[] = {4,         5,         -1,        INT32_MAX,
                                      INT32_MIN, INT64_MAX, INT64_MIN, 1LL << 32};
    subject_t subject;
    start(&subject, "copy_index.pte");
    subject_input(&subject, 0)[1] = 7;
    for (int64_t index = 0; index < 4; index++) {
        CHECK_EQ(execute(&subject, 1, &index, 1), EMBER_OK);
        CHECK(subject_output(&subject, 0)[2 * index + 1] == 7);
    }
    for (uint32_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        CHECK_EQ(execute(&subject, 1, &outside[i], 1), EMBER_BAD_PROGRAM);
    }
    subject_close(&subject);
}

static void pads_stay_inside_their_output(void) {
    static const int64_t fitting[][2] = {{1, 1}, {2, 0}, {0, 2}, {5, -3}, {-3, 5}};
    static const int64_t others[][2] = {
        {1, 4},
        {-5, 0},
        {-2, -2},
        {INT32_MAX, 0},
        {INT32_MAX, INT32_MAX},
        {INT64_MAX, 2},
        {INT64_MIN, 0},
        {1LL << 32, 0},
        {INT32_MIN, INT32_MAX},
        {-(1LL << 40), (1LL << 40) + 2},
    };
    subject_t subject;
    start(&subject, "pad.pte");
    for (uint32_t i = 0; i < sizeof(fitting) / sizeof(fitting[0]); i++) {
        subject_input(&subject, 0)[0] = 1;
        subject_input(&subject, 0)[1] = 2;
        subject_input(&subject, 0)[2] = 3;
        CHECK_EQ(execute(&subject, 1, fitting[i], 2), EMBER_OK);
        for (int64_t k = 0; k < 5; k++) {
            const int64_t from = k - fitting[i][0];
            const float want = from >= 0 && from < 3 ? (float)(from + 1) : 9;
            CHECK(subject_output(&subject, 0)[k] == want);
        }
    }
    for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        CHECK_EQ(execute(&subject, 1, others[i], 2), EMBER_BAD_PROGRAM);
    }
    subject_close(&subject);
}

TESTS(TEST(rows_stay_inside_their_list), TEST(pads_stay_inside_their_output))
