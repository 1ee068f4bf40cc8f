// SPDX-License-Identifier: Apache-2.0
// pow. 2^(y log2 x), with the logarithm as an unevaluated sum of two floats.
#include <stdbool.h>

#include "kernels/engine/mathf.h"

#define TWO_THIRDS_HI 0.666666687f
#define TWO_THIRDS_LO (-1.98682152e-8f)
#define LOG2E_HI      1.44269502f
#define LOG2E_LO      1.92596303e-8f

typedef struct pair {
    float high;
    float low;
} pair_t;

// a + b exactly, for |a| >= |b|
static pair_t sum(float a, float b) {
    const float high = a + b;
    return (pair_t){high, b - (high - a)};
}

// a * b exactly, from the products of 12-bit halves: a fused multiply-add would be slow
// and large on cores without the instruction.
static pair_t product(float a, float b) {
    const float a_high = ember_float_from(ember_float_bits(a) & 0xfffff000u);
    const float b_high = ember_float_from(ember_float_bits(b) & 0xfffff000u);
    const float a_low = a - a_high;
    const float b_low = b - b_high;
    const float high = a * b;
    const float low =
        ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return (pair_t){high, low};
}

static pair_t times(pair_t a, pair_t b) {
    const pair_t p = product(a.high, b.high);
    return sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

// log2 of a positive finite number
static pair_t log2_pair(float x) {
    const pair_t two_thirds = {TWO_THIRDS_HI, TWO_THIRDS_LO};
    const pair_t log2e = {LOG2E_HI, LOG2E_LO};
    float m;
    const float k = (float)ember_split2(x, &m);
    const float f = m - 1.0f;
    const pair_t d = m > 1.0f ? sum(m, 1.0f) : sum(1.0f, m);

    // s = f / d, log(m) = s (2 + 2/3 s^2 + ...)
    const float quotient = f / d.high;
    const pair_t back = product(quotient, d.high);
    const float rest = ((f - back.high) - back.low) - quotient * d.low;
    const pair_t s = {quotient, rest / d.high};
    const pair_t z = times(s, s);
    const float tail = 0.400001526f + z.high * (0.285470337f + z.high * 0.234210625f);
    const pair_t cubic = times(z, two_thirds);
    const pair_t series = sum(2.0f, cubic.high);
    const pair_t ratio = {series.high,
                          series.low + (cubic.low + z.high * z.high * tail)};

    const pair_t log2_m = times(times(s, ratio), log2e);
    if (k == 0.0f) {
        return log2_m;
    }
    const pair_t whole = sum(k, log2_m.high);
    return sum(whole.high, whole.low + log2_m.low);
}

// 2^(n + r) with |r| <= 1/2
static float exp2_pair(float high, float low) {
    const int32_t n = ember_nearest(high);
    const float r = (high - (float)n) + low;
    float p = 1.54764144e-4f;
    p = p * r + 0.00134004024f;
    p = p * r + 0.00961800385f;
    p = p * r + 0.0555032752f;
    p = p * r + 0.240226507f;
    p = p * r + 0.693147182f;
    return ember_scale2(1.0f + r * p, n);
}

// x^y for finite x > 0 and finite y
static float power(float x, float y) {
    const pair_t log = log2_pair(x);
    const float size = y * log.high;
    if (!(size < 128.5f)) {
        return EMBER_INF;
    }
    if (size < -151.0f) {
        return 0.0f;
    }
    const pair_t p = product(y, log.high);
    return exp2_pair(p.high, p.low + y * log.low);
}

// 0: not an integer, 1: odd, 2: even
static int parity(float y) {
    const float a = ember_fabsf(y);
    if (a >= 16777216.0f) {
        return 2;
    }
    const int32_t n = (int32_t)a;
    return (float)n != a ? 0 : n & 1 ? 1 : 2;
}

float ember_powf(float x, float y) {
    if (y == 0.0f || x == 1.0f) {
        return 1.0f;
    }
    if (x != x || y != y) {
        return x + y;
    }
    const float a = ember_fabsf(x);
    if (ember_fabsf(y) == EMBER_INF) {
        return a == 1.0f ? 1.0f : (a > 1.0f) == (y > 0.0f) ? EMBER_INF : 0.0f;
    }
    const int kind = parity(y);
    float result;
    if (a == 0.0f || a == EMBER_INF) {
        result = (a == 0.0f) == (y > 0.0f) ? 0.0f : EMBER_INF;
    } else if (x < 0.0f && kind == 0) {
        return EMBER_NAN;
    } else {
        result = power(a, y);
    }
    const bool negative = kind == 1 && ember_float_bits(x) >> 31 != 0;
    return negative ? -result : result;
}
