// SPDX-License-Identifier: Apache-2.0
// Elementary functions in float: small, without tables or doubles, and with the
// same bits on every board.
//
// At most 2 ulp from the true value (tan, asin, acosh, atan2, sigmoid 3; gelu 2 ulp of
// x), except for denormal results (measured by tests/unit/python/test_mathf.py).
// Infinities, NaN and signed zeros as in C's <math.h>; errno and the floating-point
// flags are not touched.
#ifndef EMBER_KERNELS_ENGINE_MATHF_H
#define EMBER_KERNELS_ENGINE_MATHF_H

#include <stdint.h>
#include <string.h>

#define EMBER_INF (__builtin_inff())
#define EMBER_NAN (__builtin_nanf(""))

float ember_expf(float x);
float ember_expm1f(float x);
float ember_logf(float x);
float ember_log1pf(float x);
float ember_log2f(float x);
float ember_log10f(float x);
float ember_powf(float x, float y);

float ember_sinf(float x);
float ember_cosf(float x);
float ember_tanf(float x);
float ember_asinf(float x);
float ember_acosf(float x);
float ember_atanf(float x);
float ember_atan2f(float y, float x);

float ember_sinhf(float x);
float ember_coshf(float x);
float ember_tanhf(float x);
float ember_asinhf(float x);
float ember_acoshf(float x);
float ember_atanhf(float x);

float ember_erff(float x);
float ember_sigmoidf(float x);
float ember_geluf(float x);      // x * (1 + erf(x / sqrt 2)) / 2
float ember_gelu_tanhf(float x); // its tanh approximation, with PyTorch's formula

float ember_floorf(float x);
float ember_ceilf(float x);
float ember_truncf(float x);
float ember_roundf(float x);                 // halves to even
float ember_fmodf(float x, float y);         // exact; sign of x
float ember_remainderf(float x, float y);    // the same with the sign of y, as Python
float ember_floor_dividef(float x, float y); // x / y rounded down, as Python's //

static inline uint32_t ember_float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline float ember_float_from(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static inline float ember_fabsf(float x) {
    return __builtin_fabsf(x);
}

static inline float ember_copysignf(float x, float sign) {
    return __builtin_copysignf(x, sign);
}

// 2 to the n, n in [-126, 127].
static inline float ember_pow2(int32_t n) {
    return ember_float_from((uint32_t)(n + 127) << 23);
}

// x * 2^n, n in [-252, 254]; in two steps, because 2^n may not be a float.
static inline float ember_scale2(float x, int32_t n) {
    return x * ember_pow2(n / 2) * ember_pow2(n - n / 2);
}

// The integer nearest to x, |x| < 2^31.
static inline int32_t ember_nearest(float x) {
    return (int32_t)(x + ember_copysignf(0.5f, x));
}

// Splits a positive finite x: x = *m * 2^k with m in [sqrt 1/2, sqrt 2).
int32_t ember_split2(float x, float *m);

#endif // EMBER_KERNELS_ENGINE_MATHF_H
