// SPDX-License-Identifier: Apache-2.0
// exp and its relatives. x = k ln 2 + r with |r| <= ln 2 / 2; the polynomials are
// minimax fits of (exp(r) - 1 - r) / r^2.
#include "kernels/engine/mathf.h"
#include "kernels/engine/mathf_terms.h"

// exp(r) - 1
static float exp_tail(float r) {
    float p = EMBER_EXP_TERM_1;
    p = p * r + EMBER_EXP_TERM_2;
    p = p * r + EMBER_EXP_TERM_3;
    p = p * r + EMBER_EXP_TERM_4;
    p = p * r + EMBER_EXP_TERM_5;
    p = p * r + EMBER_EXP_TERM_6;
    return r + r * r * p;
}

static float reduced(float x, int32_t *k) {
    *k = ember_nearest(x * EMBER_LOG2E);
    return (x - (float)*k * EMBER_LN2_HIGH) - (float)*k * EMBER_LN2_LOW;
}

float ember_expf(float x) {
    int32_t k;
    if (!(x < EMBER_EXP_MOST)) {
        return x * EMBER_INF; // NaN stays NaN
    }
    if (x < EMBER_EXP_LEAST) {
        return 0.0f;
    }
    const float r = reduced(x, &k);
    return ember_scale2(1.0f + exp_tail(r), k);
}

float ember_expm1f(float x) {
    int32_t k;
    if (!(x < EMBER_EXP_MOST)) {
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
    if (a < EMBER_TANH_NEAR) {
        const float z = x * x;
        float p = EMBER_TANH_TERM_1;
        p = p * z + EMBER_TANH_TERM_2;
        p = p * z + EMBER_TANH_TERM_3;
        p = p * z + EMBER_TANH_TERM_4;
        p = p * z + EMBER_TANH_TERM_5;
        return ember_copysignf(a + a * z * p, x);
    }
    if (a > EMBER_TANH_ONE) {
        return ember_copysignf(1.0f, x);
    }
    return ember_copysignf(1.0f - 2.0f / (ember_expf(2.0f * a) + 1.0f), x);
}
