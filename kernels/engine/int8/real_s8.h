// SPDX-License-Identifier: Apache-2.0
// Scaling of sums in float32, for dialects with the products of cortex_m:
//
//     y = zero_point + round(scale * (float)sum * inverse)        halves to even
//
// each product rounded, then clamped to int8.
#ifndef EMBER_KERNELS_ENGINE_INT8_REAL_S8_H
#define EMBER_KERNELS_ENGINE_INT8_REAL_S8_H

#include <stdbool.h>

#include "kernels/engine/mathf.h"

// Sizes of `scale` and `inverse` that the kernels support, besides a scale of 0:
// products are normal numbers, so a core's treatment of denormals does not matter.
#define EMBER_REAL_LEAST 0x1p-60f
#define EMBER_REAL_MOST  0x1p60f

static inline bool ember_real_fits(float scale, float inverse) {
    const float size = scale < 0.0f ? -scale : scale;
    const bool scales =
        scale == 0.0f || (size >= EMBER_REAL_LEAST && size <= EMBER_REAL_MOST);
    return scales && inverse >= EMBER_REAL_LEAST && inverse <= EMBER_REAL_MOST;
}

// A number, clamped to int8 after `zero_point` is added. First 1.5 * 2^23 is added,
// which rounds; the low bits of that sum are the integer. The bits of larger numbers
// are larger; those of negative sums are negative.
static inline int8_t ember_real_cut(float real, int32_t zero_point) {
    const int32_t bits = (int32_t)ember_float_bits(real + 12582912.0f);
    const int32_t q = (bits < 0 ? 0 : bits) - 0x4b400000 + zero_point;
    return (int8_t)(q < INT8_MIN ? INT8_MIN : q > INT8_MAX ? INT8_MAX : q);
}

static inline int8_t ember_real_s8(int32_t sum, float scale, float inverse,
                                   int32_t zero_point) {
    return ember_real_cut(scale * (float)sum * inverse, zero_point);
}

#endif // EMBER_KERNELS_ENGINE_INT8_REAL_S8_H
