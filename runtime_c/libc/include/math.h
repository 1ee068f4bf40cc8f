// SPDX-License-Identifier: Apache-2.0
// The parts of <math.h> that Ember uses, for toolchains without a C library. The float
// versions of transcendental functions are the double ones, rounded. Errors are a few
// units in the last place; errno and the exception flags are not touched.
#ifndef EMBER_LIBC_MATH_H
#define EMBER_LIBC_MATH_H

#define NAN       __builtin_nanf("")
#define INFINITY  __builtin_inff()
#define HUGE_VAL  __builtin_inf()
#define HUGE_VALF __builtin_inff()
#define M_PI      3.14159265358979323846

#define isnan(x)    __builtin_isnan(x)
#define isinf(x)    __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x)  __builtin_signbit(x)

#define EMBER_LIBC_UNARY(X)                                                            \
    X(acos)                                                                            \
    X(acosh)                                                                           \
    X(asin)                                                                            \
    X(asinh)                                                                           \
    X(atan)                                                                            \
    X(atanh)                                                                           \
    X(cbrt)                                                                            \
    X(cos)                                                                             \
    X(cosh)                                                                            \
    X(erf)                                                                             \
    X(erfc)                                                                            \
    X(exp)                                                                             \
    X(exp2)                                                                            \
    X(expm1)                                                                           \
    X(log)                                                                             \
    X(log10)                                                                           \
    X(log1p)                                                                           \
    X(log2)                                                                            \
    X(sin)                                                                             \
    X(sinh)                                                                            \
    X(tan)                                                                             \
    X(tanh)
#define EMBER_LIBC_BINARY(X)                                                           \
    X(atan2)                                                                           \
    X(hypot)                                                                           \
    X(pow)

#define EMBER_LIBC_DECLARE(name)                                                       \
    double name(double x);                                                             \
    float name##f(float x);
EMBER_LIBC_UNARY(EMBER_LIBC_DECLARE)
EMBER_LIBC_DECLARE(ceil)
EMBER_LIBC_DECLARE(fabs)
EMBER_LIBC_DECLARE(floor)
EMBER_LIBC_DECLARE(nearbyint)
EMBER_LIBC_DECLARE(rint)
EMBER_LIBC_DECLARE(round)
EMBER_LIBC_DECLARE(sqrt)
EMBER_LIBC_DECLARE(trunc)
#undef EMBER_LIBC_DECLARE

#define EMBER_LIBC_DECLARE(name)                                                       \
    double name(double x, double y);                                                   \
    float name##f(float x, float y);
EMBER_LIBC_BINARY(EMBER_LIBC_DECLARE)
EMBER_LIBC_DECLARE(copysign)
EMBER_LIBC_DECLARE(fmax)
EMBER_LIBC_DECLARE(fmin)
EMBER_LIBC_DECLARE(fmod)
EMBER_LIBC_DECLARE(remainder)
#undef EMBER_LIBC_DECLARE

double fma(double x, double y, double z);
float fmaf(float x, float y, float z);
double ldexp(double x, int exponent);
float ldexpf(float x, int exponent);
double frexp(double x, int *exponent);
float frexpf(float x, int *exponent);

#endif // EMBER_LIBC_MATH_H
