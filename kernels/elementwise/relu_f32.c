// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else 0, float32 in one layout; NaN stays. In integers:
// shorter than with float comparisons, and -0 to -infinity are one range of bits.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

static inline float relu(float a) {
    const uint32_t bits = ember_float_bits(a);
    return ember_float_from(bits - 0x80000000u <= 0x7f800000u ? 0 : bits);
}

EMBER_MAP_F32_1(relu_f32, relu(a));
