// SPDX-License-Identifier: Apache-2.0
// Lines of an image that are copied beside their padding.
#ifndef EMBER_XNNPACK_SME_LINES_H
#define EMBER_XNNPACK_SME_LINES_H

#include <arm_sme.h>

static inline void sme_copy(int8_t *to, const int8_t *from,
                            uint64_t bytes) __arm_streaming __arm_preserves("za") {
    for (uint64_t i = 0; i < bytes; i += svcntb()) {
        const svbool_t some = svwhilelt_b8_u64(i, bytes);
        svst1_s8(some, to + i, svld1_s8(some, from + i));
    }
}

static inline void sme_fill(int8_t *to, int8_t number,
                            uint64_t bytes) __arm_streaming __arm_preserves("za") {
    for (uint64_t i = 0; i < bytes; i += svcntb()) {
        svst1_s8(svwhilelt_b8_u64(i, bytes), to + i, svdup_s8(number));
    }
}

#endif // EMBER_XNNPACK_SME_LINES_H
