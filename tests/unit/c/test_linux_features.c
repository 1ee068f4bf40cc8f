// SPDX-License-Identifier: Apache-2.0
// What Linux tells of an Arm64 core becomes what Ember runs there.
#include "check.h"

#include "../../../runtime_c/port/linux_user/features_aarch64.h"

// Of AT_HWCAP, as the kernel tells them of known cores.
#define ASIMD LINUX_HWCAP_ASIMD
#define DOT   LINUX_HWCAP_ASIMDDP
#define FHM   LINUX_HWCAP_ASIMDFHM
#define HALF  LINUX_HWCAP_ASIMDHP

static void cores_have_what_linux_tells(void) {
    CHECK_EQ(linux_features(0, 0), 0);
    CHECK_EQ(linux_features(ASIMD, 0), EMBER_CPU_NEON); // Cortex-A53
    CHECK_EQ(linux_features(ASIMD | HALF | DOT, 0),     // Cortex-A76
             EMBER_CPU_NEON | EMBER_CPU_FP16 | EMBER_CPU_DOT);
    CHECK_EQ(linux_features(ASIMD | HALF | DOT | FHM, 0), // Apple M1
             EMBER_CPU_NEON | EMBER_CPU_FP16 | EMBER_CPU_DOT | EMBER_CPU_FHM);
    CHECK_EQ(linux_features(ASIMD | DOT | FHM | LINUX_HWCAP_SVE,
                            LINUX_HWCAP2_I8MM | LINUX_HWCAP2_BF16 | LINUX_HWCAP2_SME |
                                LINUX_HWCAP2_SME2),
             EMBER_CPU_NEON | EMBER_CPU_DOT | EMBER_CPU_FHM | EMBER_CPU_I8MM |
                 EMBER_CPU_BF16MM | EMBER_CPU_SVE | EMBER_CPU_SME | EMBER_CPU_SME2);
}

// Memory is planned for cores that skip no step.
static void steps_end_where_one_is_missing(void) {
    CHECK_EQ(linux_features(ASIMD | FHM, LINUX_HWCAP2_I8MM), EMBER_CPU_NEON);
    CHECK_EQ(linux_features(ASIMD | DOT, LINUX_HWCAP2_SME),
             EMBER_CPU_NEON | EMBER_CPU_DOT);
    CHECK_EQ(linux_features(ASIMD | DOT | FHM, LINUX_HWCAP2_I8MM | LINUX_HWCAP2_SME),
             EMBER_CPU_NEON | EMBER_CPU_DOT | EMBER_CPU_FHM | EMBER_CPU_I8MM);
    CHECK_EQ(linux_features(DOT, LINUX_HWCAP2_SME), 0);
}

static void vectors_are_no_longer_than_planned(void) {
    const uint32_t all = EMBER_CPU_NEON | EMBER_CPU_SME | EMBER_CPU_SME2;
    CHECK_EQ(linux_checked(all, 64), all);
    CHECK_EQ(linux_checked(all, 16), all);
    CHECK_EQ(linux_checked(all, 64 | 1 << 17), all); // inherited by what it starts
    CHECK_EQ(linux_checked(all, 128), EMBER_CPU_NEON);
    CHECK_EQ(linux_checked(all, -22), EMBER_CPU_NEON); // a kernel without SME
}

TESTS(TEST(cores_have_what_linux_tells), TEST(steps_end_where_one_is_missing),
      TEST(vectors_are_no_longer_than_planned))
