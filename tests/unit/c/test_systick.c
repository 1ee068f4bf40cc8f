// SPDX-License-Identifier: Apache-2.0
// SysTick as a clock of more than its 24 bits.
#include "check.h"
#include "runtime_c/port/cortexm/systick.h"

#define ROUND (EMBER_SYSTICK_MOST + 1)

static void it_counts_down(void) {
    CHECK_EQ(ember_systick_passed(1000, 1000, false), 0);
    CHECK_EQ(ember_systick_passed(1000, 10, false), 990);
    CHECK_EQ(ember_systick_passed(EMBER_SYSTICK_MOST, 0, false), EMBER_SYSTICK_MOST);
}

static void one_round_is_known_with_and_without_the_flag(void) {
    CHECK_EQ(ember_systick_passed(10, EMBER_SYSTICK_MOST, true), 11);
    CHECK_EQ(ember_systick_passed(10, EMBER_SYSTICK_MOST, false), 11);
    CHECK_EQ(ember_systick_passed(0, 1000, true), ROUND - 1000);
}

static void what_is_longer_than_a_round_is_known_by_the_flag(void) {
    CHECK_EQ(ember_systick_passed(1000, 10, true), ROUND + 990);
    CHECK_EQ(ember_systick_passed(1000, 1000, true), ROUND);
    CHECK_EQ(ember_systick_passed(EMBER_SYSTICK_MOST, 0, true), 2 * ROUND - 1);
}

TESTS(TEST(it_counts_down), TEST(one_round_is_known_with_and_without_the_flag),
      TEST(what_is_longer_than_a_round_is_known_by_the_flag))
