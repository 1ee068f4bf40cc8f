// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions. The argument is reduced exactly, by a multiplication with as
// many bits of 2 / pi as matter, so that large arguments need no special case.
#include <stdbool.h>

#include "kernels/engine/mathf.h"

#define PI_HI   3.14159274f
#define PI_LO   (-8.74227766e-8f)
#define PIO2_HI 1.57079637f
#define PIO2_LO (-4.37113883e-8f)
#define PIO4_HI 0.785398185f
#define PIO4_LO (-2.18556941e-8f)

// 2 / pi in binary, after 32 zero bits.
static const uint32_t two_over_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                       0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

// |x| = q pi/2 + *r with |r| <= pi/4; returns q modulo 4. `x` is finite.
static uint32_t reduced(float x, float *r) {
    const uint32_t bits = ember_float_bits(x) & 0x7fffffffu;
    if (bits <= 0x3f490fdbu) {
        *r = ember_float_from(bits);
        return 0;
    }
    // x = mantissa * 2^e: the bits of 2 / pi that make multiples of 4 are skipped
    const uint64_t mantissa = (bits & 0x7fffffu) | 0x800000u;
    const uint32_t at = (bits >> 23) - 120u; // e + 30
    const uint32_t *word = two_over_pi + at / 32;
    uint32_t part[3];
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t pair = (uint64_t)word[i] << 32 | word[i + 1];
        part[i] = (uint32_t)(pair << at % 32 >> 32);
    }
    const uint64_t mid = mantissa * part[1] + (mantissa * part[2] >> 32);
    const uint64_t turns = mantissa * part[0] + (mid >> 32);
    const uint64_t product = turns << 32 | (uint32_t)mid; // in quarter turns, 2.62
    const uint64_t fraction = product << 2;
    const bool above = fraction >> 63 != 0;

    uint64_t rest = above ? 0u - fraction : fraction;
    const int32_t zeros = rest == 0 ? 0 : __builtin_clzll(rest);
    rest = (rest << zeros >> 32) * 0xc90fdaa2u; // times pi/2
    const float size = (float)(uint32_t)(rest >> 32) * ember_pow2(-31 - zeros);
    *r = above ? -size : size;
    return (uint32_t)(product >> 62) + (above ? 1u : 0u);
}

static float sin_near(float r) {
    const float z = r * r;
    const float p = -0.166666552f + z * (0.00833217613f + z * -1.95169778e-4f);
    return r + r * z * p;
}

static float cos_near(float r) {
    const float z = r * r;
    const float p = 0.0416666456f + z * (-0.00138873642f + z * 2.44380917e-5f);
    const float w = 1.0f - 0.5f * z;
    return w + (((1.0f - w) - 0.5f * z) + z * z * p);
}

static bool finite(float x) {
    return ember_fabsf(x) < EMBER_INF;
}

float ember_sinf(float x) {
    float r;
    if (!finite(x)) {
        return EMBER_NAN;
    }
    const uint32_t q = reduced(x, &r);
    const float y = q & 1 ? cos_near(r) : sin_near(r);
    return ((q & 2) != 0) != (ember_float_bits(x) >> 31 != 0) ? -y : y;
}

float ember_cosf(float x) {
    float r;
    if (!finite(x)) {
        return EMBER_NAN;
    }
    const uint32_t q = reduced(x, &r);
    const float y = q & 1 ? sin_near(r) : cos_near(r);
    return (q + 1) & 2 ? -y : y;
}

float ember_tanf(float x) {
    float r;
    if (!finite(x)) {
        return EMBER_NAN;
    }
    const uint32_t q = reduced(x, &r);
    const float y = q & 1 ? -cos_near(r) / sin_near(r) : sin_near(r) / cos_near(r);
    return ember_float_bits(x) >> 31 != 0 ? -y : y;
}

// asin(s) - s for |s| <= 1/2, z = s * s
static float asin_tail(float s, float z) {
    float p = 0.0422305204f;
    p = p * z + 0.024141008f;
    p = p * z + 0.0454783365f;
    p = p * z + 0.0749523267f;
    p = p * z + 0.166667536f;
    return s * z * p;
}

float ember_asinf(float x) {
    const float a = ember_fabsf(x);
    if (a <= 0.5f) {
        return x + asin_tail(x, x * x);
    }
    const float z = 0.5f * (1.0f - a); // sqrt makes NaN of a > 1
    const float s = __builtin_sqrtf(z);
    const float y = PIO2_HI - (2.0f * (s + asin_tail(s, z)) - PIO2_LO);
    return ember_copysignf(y, x);
}

float ember_acosf(float x) {
    const float a = ember_fabsf(x);
    if (a <= 0.5f) {
        return PIO2_HI - (x - (PIO2_LO - asin_tail(x, x * x)));
    }
    const float z = 0.5f * (1.0f - a);
    const float s = __builtin_sqrtf(z);
    const float y = 2.0f * (s + asin_tail(s, z));
    return x > 0.0f ? y : PI_HI - (y - PI_LO);
}

float ember_atanf(float x) {
    const float a = ember_fabsf(x);
    float t = a;
    float high = 0.0f;
    float low = 0.0f;
    if (a > 2.41421366f) {
        t = -1.0f / a;
        high = PIO2_HI;
        low = PIO2_LO;
    } else if (a > 0.414213568f) {
        t = (a - 1.0f) / (a + 1.0f);
        high = PIO4_HI;
        low = PIO4_LO;
    }
    const float z = t * t;
    float p = -0.0608116053f;
    p = p * z + 0.105951421f;
    p = p * z - 0.142437384f;
    p = p * z + 0.199984834f;
    p = p * z - 0.333333164f;
    return ember_copysignf(high + (t + (t * z * p + low)), x);
}

float ember_atan2f(float y, float x) {
    const float ax = ember_fabsf(x);
    const float ay = ember_fabsf(y);
    if (x != x || y != y) {
        return x + y;
    }
    const float ratio = ay == 0.0f ? 0.0f : ax == ay ? 1.0f : ay / ax;
    const float angle = ember_atanf(ratio);
    const bool left = ember_float_bits(x) >> 31 != 0;
    return ember_copysignf(left ? PI_HI - (angle - PI_LO) : angle, y);
}
