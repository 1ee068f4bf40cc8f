// SPDX-License-Identifier: Apache-2.0
// Rounding and remainder, exact, without the C library.
#include "kernels/engine/mathf.h"

#define WHOLE 8388608.0f // from here on every float is an integer

float ember_truncf(float x) {
    if (!(ember_fabsf(x) < WHOLE)) {
        return x;
    }
    return ember_copysignf((float)(int32_t)x, x);
}

float ember_floorf(float x) {
    const float t = ember_truncf(x);
    return t > x ? t - 1.0f : t;
}

float ember_ceilf(float x) {
    const float t = ember_truncf(x);
    return t < x ? ember_copysignf(t + 1.0f, x) : t;
}

float ember_roundf(float x) {
    const float a = ember_fabsf(x);
    if (!(a < WHOLE)) {
        return x;
    }
    return ember_copysignf((a + WHOLE) - WHOLE, x); // the adder rounds to even
}

// Long division, one bit at a time; every step is exact.
float ember_fmodf(float x, float y) {
    const float divisor = ember_fabsf(y);
    float rest = ember_fabsf(x);
    float part = divisor;
    if (!(rest < EMBER_INF) || !(divisor > 0.0f)) {
        return EMBER_NAN;
    }
    if (divisor > rest) {
        return x;
    }
    while (part <= 0.5f * rest) {
        part += part;
    }
    for (; part >= divisor; part *= 0.5f) {
        rest -= part <= rest ? part : 0.0f;
    }
    return ember_copysignf(rest, x);
}
