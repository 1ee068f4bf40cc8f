// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 from and to float, rounded to nearest even, in integers.
#include "kernels/engine/half.h"
#include "kernels/engine/element.h"

float ember_f32_from_f16(uint16_t bits) {
    return ember_half_widen(bits);
}

uint16_t ember_f16_from_f32(float x) {
    return ember_half_narrow(x);
}

float ember_f32_from_bf16(uint16_t bits) {
    return ember_float_from((uint32_t)bits << 16);
}

uint16_t ember_bf16_from_f32(float x) {
    const uint32_t bits = ember_float_bits(x);
    if (x != x) {
        return 0x7fc0u;
    }
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
