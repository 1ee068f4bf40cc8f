// SPDX-License-Identifier: Apache-2.0
// Logarithms and inverse hyperbolic functions. x = 2^k (1 + f); with
// s = f / (2 + f), log(1 + f) = 2 s + s^3 P(s^2), P a minimax fit.
#include "kernels/engine/mathf.h"

#define LN2        0.693147181f
#define LN2_HI     0.693359375f
#define LN2_LO     (-2.12194440e-4f)
#define LOG2E      1.44269504f
#define LOG10E     0.434294492f
#define LOG10_2_HI 0.301025391f // k * LOG10_2_HI is exact
#define LOG10_2_LO 4.60503907e-6f

int32_t ember_split2(float x, float *m) {
    int32_t k = 0;
    if (x < 1.17549435e-38f) { // denormal
        x *= 33554432.0f;
        k = -25;
    }
    // the exponent steps at sqrt 1/2 instead of at 1
    const uint32_t bits = ember_float_bits(x) - 0x3f3504f3u;
    k += (int32_t)bits >> 23;
    *m = ember_float_from((bits & 0x7fffffu) + 0x3f3504f3u);
    return k;
}

// log(1 + f) + low + k LN2_HI, for f in [sqrt 1/2 - 1, sqrt 2 - 1)
static float log_sum(float f, float low, float k) {
    const float s = f / (2.0f + f);
    const float z = s * s;
    const float p = z * (0.666667759f + z * (0.399774492f + z * 0.298744172f));
    const float half = 0.5f * f * f;
    return k * LN2_HI - ((half - (s * (half + p) + low)) - f);
}

// True if log(x) is not an ordinary number; then it is in *value.
static int special(float x, float *value) {
    if (x > 0.0f && x < EMBER_INF) {
        return 0;
    }
    *value = x == 0.0f ? -EMBER_INF : x > 0.0f ? x : EMBER_NAN;
    return 1;
}

float ember_logf(float x) {
    float m;
    if (special(x, &m)) {
        return m;
    }
    const float k = (float)ember_split2(x, &m);
    return log_sum(m - 1.0f, k * LN2_LO, k);
}

float ember_log2f(float x) {
    float m;
    if (special(x, &m)) {
        return m;
    }
    const float k = (float)ember_split2(x, &m);
    return k + log_sum(m - 1.0f, 0.0f, 0.0f) * LOG2E;
}

float ember_log10f(float x) {
    float m;
    if (special(x, &m)) {
        return m;
    }
    const float k = (float)ember_split2(x, &m);
    return k * LOG10_2_HI + (k * LOG10_2_LO + log_sum(m - 1.0f, 0.0f, 0.0f) * LOG10E);
}

float ember_log1pf(float x) {
    const float u = 1.0f + x;
    float m;
    if (special(u, &m)) {
        return m;
    }
    // what 1 + x lost, as a correction of the logarithm
    const float lost = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
    const float k = (float)ember_split2(u, &m);
    const float y = log_sum(m - 1.0f, k * LN2_LO + lost / u, k);
    return x == 0.0f ? x : y;
}

float ember_asinhf(float x) {
    const float a = ember_fabsf(x);
    if (a > 4096.0f) {
        return ember_copysignf(ember_logf(a) + LN2, x);
    }
    const float z = a * a;
    const float y = ember_log1pf(a + z / (1.0f + __builtin_sqrtf(1.0f + z)));
    return ember_copysignf(y, x);
}

float ember_acoshf(float x) {
    if (x > 4096.0f) {
        return ember_logf(x) + LN2;
    }
    if (!(x >= 1.0f)) {
        return EMBER_NAN;
    }
    const float t = x - 1.0f;
    return ember_log1pf(t + __builtin_sqrtf(t * (2.0f + t)));
}

float ember_atanhf(float x) {
    const float a = ember_fabsf(x);
    const float y = 0.5f * ember_log1pf(2.0f * a / (1.0f - a));
    return ember_copysignf(y, x);
}
