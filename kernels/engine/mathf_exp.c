// SPDX-License-Identifier: Apache-2.0
// exp and its relatives. x = k ln 2 + r with |r| <= ln 2 / 2; the polynomials are
// minimax fits of (exp(r) - 1 - r) / r^2.
#include "kernels/engine/mathf.h"

#define LOG2E  1.44269504f
#define LN2_HI 0.693359375f // k * LN2_HI is exact
#define LN2_LO (-2.12194440e-4f)

// exp(r) - 1
static float exp_tail(float r) {
    float p = 1.99142640e-4f;
    p = p * r + 1.39411015e-3f;
    p = p * r + 8.33327323e-3f;
    p = p * r + 0.041666355f;
    p = p * r + 0.166666672f;
    p = p * r + 0.5f;
    return r + r * r * p;
}

static float reduced(float x, int32_t *k) {
    *k = ember_nearest(x * LOG2E);
    return (x - (float)*k * LN2_HI) - (float)*k * LN2_LO;
}

float ember_expf(float x) {
    int32_t k;
    if (!(x < 88.7228394f)) {
        return x * EMBER_INF; // NaN stays NaN
    }
    if (x < -103.98f) {
        return 0.0f;
    }
    const float r = reduced(x, &k);
    return ember_scale2(1.0f + exp_tail(r), k);
}

float ember_expm1f(float x) {
    int32_t k;
    if (!(x < 88.7228394f)) {
        return x * EMBER_INF;
    }
    if (x < -17.4f) {
        return -1.0f;
    }
    const float p = exp_tail(reduced(x, &k));
    if (k == 0) {
        return x == 0.0f ? x : p;
    }
    // 2^k (1 + p) - 1; 1 - 2^-k is exact where it matters
    return ember_scale2(p + (1.0f - ember_scale2(1.0f, -k)), k);
}

float ember_sigmoidf(float x) {
    return 1.0f / (1.0f + ember_expf(-x));
}

float ember_sinhf(float x) {
    const float a = ember_fabsf(x);
    if (a < 1.0f) {
        const float t = ember_expm1f(a);
        return ember_copysignf(0.5f * (t + t / (t + 1.0f)), x);
    }
    if (a < 88.0f) {
        const float e = ember_expf(a);
        return ember_copysignf(0.5f * e - 0.5f / e, x);
    }
    const float root = ember_expf(0.5f * a);
    return ember_copysignf(0.5f * root * root, x);
}

float ember_coshf(float x) {
    const float a = ember_fabsf(x);
    if (a < 88.0f) {
        const float e = ember_expf(a);
        return 0.5f * e + 0.5f / e;
    }
    const float root = ember_expf(0.5f * a);
    return 0.5f * root * root;
}

float ember_tanhf(float x) {
    const float a = ember_fabsf(x);
    if (a < 0.625f) {
        const float z = x * x;
        float p = -5.71704702e-3f;
        p = p * z + 0.0206505898f;
        p = p * z - 0.0537435003f;
        p = p * z + 0.133314908f;
        p = p * z - 0.333332837f;
        return ember_copysignf(a + a * z * p, x);
    }
    if (a > 9.1f) {
        return ember_copysignf(1.0f, x);
    }
    return ember_copysignf(1.0f - 2.0f / (ember_expf(2.0f * a) + 1.0f), x);
}
