// SPDX-License-Identifier: Apache-2.0
// Rows of an image that are copied with their padding.
#ifndef EMBER_XNNPACK_SME_LINES_H
#define EMBER_XNNPACK_SME_LINES_H

#include "backends/xnnpack/nodes/window.h"

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

// Where `count` rows from `top` on are: in a ring of `count` slots; rows outside the
// image share one after it.
static inline void
sme_slots(const ember_xnn_axis_t *down, int32_t top, int32_t count, const int8_t *slots,
          size_t line, const int8_t **lines) __arm_streaming __arm_preserves("za") {
    for (int32_t k = 0; k < count; k++) {
        const bool inside = top + k >= 0 && top + k < down->in;
        const int32_t slot = inside ? (top + k) % count : count;
        lines[k] = slots + (size_t)slot * line;
    }
}

#endif // EMBER_XNNPACK_SME_LINES_H
