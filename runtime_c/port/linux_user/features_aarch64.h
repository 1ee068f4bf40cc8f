// SPDX-License-Identifier: Apache-2.0
// Linux's report of an Arm64 core becomes Ember's.
#ifndef EMBER_PORT_FEATURES_AARCH64_H
#define EMBER_PORT_FEATURES_AARCH64_H

#include <stdbool.h>
#include <stdint.h>

#include "ember/port.h"

// Bits of AT_HWCAP and AT_HWCAP2 (arch/arm64/include/uapi/asm/hwcap.h) and of prctl().
#define LINUX_HWCAP_ASIMD    (UINT64_C(1) << 1)
#define LINUX_HWCAP_ASIMDHP  (UINT64_C(1) << 10)
#define LINUX_HWCAP_ASIMDDP  (UINT64_C(1) << 20)
#define LINUX_HWCAP_SVE      (UINT64_C(1) << 22)
#define LINUX_HWCAP_ASIMDFHM (UINT64_C(1) << 23)
#define LINUX_HWCAP2_I8MM    (UINT64_C(1) << 13)
#define LINUX_HWCAP2_BF16    (UINT64_C(1) << 14)
#define LINUX_HWCAP2_SME     (UINT64_C(1) << 23)
#define LINUX_HWCAP2_SME2    (UINT64_C(1) << 37)
enum { LINUX_PR_SME_SET_VL = 63, LINUX_VL_LENGTH = 0xffff };

// The longest streaming vectors that memory is planned for, in bytes. Each thread sets
// its own length: the core's, up to this.
enum { LINUX_LONGEST_VECTOR = 64 };

static inline uint32_t linux_when(bool there, ember_cpu_t feature) {
    return there ? (uint32_t)feature : 0;
}

static inline uint32_t linux_reported(uint64_t hwcap, uint64_t hwcap2) {
    return linux_when((hwcap & LINUX_HWCAP_ASIMD) != 0, EMBER_CPU_NEON) |
           linux_when((hwcap & LINUX_HWCAP_ASIMDHP) != 0, EMBER_CPU_FP16) |
           linux_when((hwcap & LINUX_HWCAP_ASIMDDP) != 0, EMBER_CPU_DOT) |
           linux_when((hwcap & LINUX_HWCAP_ASIMDFHM) != 0, EMBER_CPU_FHM) |
           linux_when((hwcap & LINUX_HWCAP_SVE) != 0, EMBER_CPU_SVE) |
           linux_when((hwcap2 & LINUX_HWCAP2_I8MM) != 0, EMBER_CPU_I8MM) |
           linux_when((hwcap2 & LINUX_HWCAP2_BF16) != 0, EMBER_CPU_BF16MM) |
           linux_when((hwcap2 & LINUX_HWCAP2_SME) != 0, EMBER_CPU_SME) |
           linux_when((hwcap2 & LINUX_HWCAP2_SME2) != 0, EMBER_CPU_SME2);
}

// Each level only with those before it: memory is planned for these levels
// (sdk/ember/boards/levels.py), and no core skips one.
static inline uint32_t linux_steps(uint32_t features) {
    static const uint32_t steps[] = {EMBER_CPU_NEON, EMBER_CPU_DOT,    EMBER_CPU_FHM,
                                     EMBER_CPU_I8MM, EMBER_CPU_BF16MM, EMBER_CPU_SME};
    const uint32_t count = sizeof(steps) / sizeof(steps[0]);
    uint32_t kept = features & (EMBER_CPU_FP16 | EMBER_CPU_SVE | EMBER_CPU_SME2);

    for (uint32_t i = 0; i < count && (features & steps[i]) != 0; i++) {
        kept |= steps[i];
    }
    return kept;
}

static inline uint32_t linux_features(uint64_t hwcap, uint64_t hwcap2) {
    return linux_steps(linux_reported(hwcap, hwcap2));
}

// Without SME if the kernel gives a thread (`answer` of prctl) no such vectors.
static inline uint32_t linux_checked(uint32_t features, intptr_t answer) {
    const bool fits = answer > 0 && (answer & LINUX_VL_LENGTH) <= LINUX_LONGEST_VECTOR;

    return fits ? features : features & ~(uint32_t)(EMBER_CPU_SME | EMBER_CPU_SME2);
}

#endif // EMBER_PORT_FEATURES_AARCH64_H
