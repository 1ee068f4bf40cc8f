// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 from and to float, rounded to nearest even, in integers.
#include "kernels/engine/element.h"

#include "kernels/engine/mathf.h"

float ember_f32_from_f16(uint16_t bits) {
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    const uint32_t rest = bits & 0x7fffu;
    // as a float of the same bits the value is too small by 2^112, denormals too
    const float size = ember_float_from(rest << 13) * ember_pow2(112);
    const uint32_t special = rest >= 0x7c00u ? 0x7f800000u : 0; // infinity, NaN
    return ember_float_from(sign | special | ember_float_bits(size));
}

uint16_t ember_f16_from_f32(float x) {
    const uint32_t bits = ember_float_bits(x);
    const uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (rest > 0x47800000u) {
        rest = 0x47800000u; // 65536 becomes infinity
    }
    if (rest < 0x38800000u) {
        // denormal: adding 0.5 leaves the value in units of 2^-24, rounded
        const float sum = ember_float_from(rest) + 0.5f;
        return (uint16_t)(sign | (ember_float_bits(sum) - 0x3f000000u));
    }
    rest += 0xfffu + (rest >> 13 & 1u);
    return (uint16_t)(sign | (rest - 0x38000000u) >> 13);
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
