// SPDX-License-Identifier: Apache-2.0
// Hyperbolic functions, their inverses, and the error function.
#include <math.h>

#include "bits.h"

double sinh(double x) {
    const double size = absolute(x);

    if (size > 40.0) {
        const double root = exp(0.5 * size);
        return with_sign(0.5 * root * root, x);
    }
    const double e = expm1(size);
    return isnan(x) ? x : with_sign(0.5 * (e + e / (e + 1.0)), x);
}

double cosh(double x) {
    const double size = absolute(x);

    if (size > 40.0) {
        const double root = exp(0.5 * size);
        return 0.5 * root * root;
    }
    const double e = exp(size);
    return 0.5 * (e + 1.0 / e);
}

double tanh(double x) {
    const double size = absolute(x);

    if (isnan(x)) {
        return x;
    }
    if (size > 22.0) {
        return with_sign(1.0, x);
    }
    const double e = expm1(2.0 * size);
    return with_sign(e / (e + 2.0), x);
}

double asinh(double x) {
    const double size = absolute(x);

    if (!isfinite(x) || size > 0x1p28) {
        return isfinite(x) ? with_sign(log(size) + 0x1.62e42fefa39efp-1, x) : x;
    }
    const double square = size * size;
    return with_sign(log1p(size + square / (1.0 + sqrt(square + 1.0))), x);
}

double acosh(double x) {
    const double t = x - 1.0;

    if (x > 0x1p28) {
        return log(x) + 0x1.62e42fefa39efp-1;
    }
    return x < 1.0 ? NAN : log1p(t + sqrt(2.0 * t + t * t));
}

double atanh(double x) {
    const double size = absolute(x);

    return isnan(x) ? x : with_sign(0.5 * log1p(2.0 * size / (1.0 - size)), x);
}

// ---- error function ----------------------------------------------------------------

#define TWO_BY_ROOT_PI 0x1.20dd750429b6dp+0
#define ERF_ONE        5.95 // erf rounds to 1 from here on
#define ERFC_ZERO      27.3

// e^(-x^2): the square's rounding error would grow with x^2, so x is split.
static double exp_minus_square(double x) {
    const double high = from_bits(bits_of(x) & ~UINT64_C(0x7ffffff));

    return exp(-high * high) * exp((high - x) * (high + x));
}

// erf(x) = 2/sqrt(pi) x e^(-x^2) (1 + 2x^2/3 + (2x^2)^2/(3 5) + ..), 0 <= x < 2: every
// term is positive, so nothing cancels.
static double erf_series(double x) {
    const double twice = 2.0 * x * x;
    double term = 1.0;
    double sum = 1.0;

    for (int odd = 3; term > 0x1p-54 * sum; odd += 2) {
        term *= twice / odd;
        sum += term;
    }
    return TWO_BY_ROOT_PI * x * exp_minus_square(x) * sum;
}

// erfc(x) as a continued fraction, from the inside out; x >= 1.
static double erfc_fraction(double x) {
    double below = x;

    for (int i = x < 2.0 ? 160 : 50; i > 0; i--) {
        below = x + 0.5 * i / below;
    }
    return 0.5 * TWO_BY_ROOT_PI * exp_minus_square(x) / below;
}

double erf(double x) {
    const double size = absolute(x);

    if (isnan(x)) {
        return x;
    }
    if (size < 2.0) {
        return x < 0.0 ? -erf_series(size) : erf_series(x);
    }
    return with_sign(size > ERF_ONE ? 1.0 : 1.0 - erfc_fraction(size), x);
}

double erfc(double x) {
    if (isnan(x)) {
        return x;
    }
    if (x < 1.0) {
        return 1.0 - erf(x);
    }
    return x > ERFC_ZERO ? 0.0 : erfc_fraction(x);
}
