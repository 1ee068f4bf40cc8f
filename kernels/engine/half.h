// SPDX-License-Identifier: Apache-2.0
// float16 from and to float, rounded to nearest even, in integers and without branches:
// compilers vectorise loops of these. For files with such loops; others call
// element.h's functions.
#ifndef EMBER_KERNELS_ENGINE_HALF_H
#define EMBER_KERNELS_ENGINE_HALF_H

#include "kernels/engine/mathf.h"

static inline float ember_half_widen(uint16_t bits) {
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    const uint32_t rest = bits & 0x7fffu;
    // as a float of the same bits the value is too small by 2^112, denormals too
    const float size = ember_float_from(rest << 13) * ember_pow2(112);
    const uint32_t special = rest >= 0x7c00u ? 0x7f800000u : 0; // infinity, NaN
    return ember_float_from(sign | special | ember_float_bits(size));
}

static inline uint16_t ember_half_narrow(float x) {
    const uint32_t bits = ember_float_bits(x);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t size = bits & 0x7fffffffu;
    const uint32_t most = 0x47800000u; // 65536 becomes infinity
    const uint32_t rest = size < most ? size : most;
    // denormal: adding 0.5 leaves the value in units of 2^-24, rounded
    const float sum = ember_float_from(rest) + 0.5f;
    const uint32_t small = ember_float_bits(sum) - 0x3f000000u;
    const uint32_t odd = rest >> 13 & 1u;
    const uint32_t large = (rest + 0xfffu + odd - 0x38000000u) >> 13;
    const uint32_t number = rest < 0x38800000u ? small : large;
    return (uint16_t)(sign | (size > 0x7f800000u ? 0x7e00u : number));
}

#endif // EMBER_KERNELS_ENGINE_HALF_H
