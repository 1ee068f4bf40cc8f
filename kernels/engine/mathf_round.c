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

float ember_remainderf(float x, float y) {
    const float rest = ember_fmodf(x, y);
    return rest != 0.0f && (rest < 0.0f) != (y < 0.0f) ? rest + y : rest;
}

// The quotient is computed without the remainder first, so that rounding cannot lift it
// above an integer.
float ember_floor_dividef(float x, float y) {
    if (y == 0.0f) {
        return x / y;
    }
    const float rest = ember_fmodf(x, y);
    float q = (x - rest) / y;
    q -= rest != 0.0f && (rest < 0.0f) != (y < 0.0f) ? 1.0f : 0.0f;
    const float whole = ember_floorf(q);
    return q == 0.0f          ? ember_copysignf(0.0f, x / y)
           : q - whole > 0.5f ? whole + 1.0f
                              : whole;
}
