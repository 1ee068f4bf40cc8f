// SPDX-License-Identifier: Apache-2.0
// Rounding, remainders and scaling: all exact.
#include <math.h>

#include "bits.h"

#define TWO_52 4503599627370496.0 // from here on every double is an integer

double fabs(double x) {
    return absolute(x);
}

double copysign(double x, double y) {
    return with_sign(absolute(x), y);
}

double fmax(double x, double y) {
    if (isnan(x) || isnan(y)) {
        return isnan(x) ? y : x;
    }
    return x > y ? x : y;
}

double fmin(double x, double y) {
    if (isnan(x) || isnan(y)) {
        return isnan(x) ? y : x;
    }
    return x < y ? x : y;
}

// To the nearest integer, halves to even: adding 2^52 drops the fraction.
double rint(double x) {
    const double size = absolute(x);

    if (!(size < TWO_52)) {
        return x;
    }
    volatile double sum = size + TWO_52; // keeps the compiler from folding it away
    return with_sign(sum - TWO_52, x);
}

double nearbyint(double x) {
    return rint(x);
}

double trunc(double x) {
    const int exponent = exponent_of(x) - 1023;

    if (exponent >= FRACTION_BITS) {
        return x;
    }
    if (exponent < 0) {
        return with_sign(0.0, x);
    }
    return from_bits(bits_of(x) & ~(FRACTION >> exponent));
}

double floor(double x) {
    const double whole = trunc(x);

    return whole > x ? whole - 1.0 : whole;
}

double ceil(double x) {
    const double whole = trunc(x);

    return whole < x ? with_sign(whole + 1.0, x) : whole;
}

double round(double x) {
    const double whole = trunc(x);

    return absolute(x - whole) >= 0.5 ? whole + with_sign(1.0, x) : whole;
}

double frexp(double x, int *exponent) {
    *exponent = 0;
    if (x == 0.0 || exponent_of(x) == 2047) {
        return x;
    }
    if (exponent_of(x) == 0) { // subnormal
        x *= 0x1p54;
        *exponent = -54;
    }
    *exponent += exponent_of(x) - 1022;
    return from_bits((bits_of(x) & (SIGN_BIT | FRACTION)) | UINT64_C(1022) << 52);
}

// At most three factors, at most one of which rounds.
double ldexp(double x, int exponent) {
    for (int step = 0; step < 2 && exponent > 1023; step++) {
        x *= 0x1p1023;
        exponent -= 1023;
    }
    for (int step = 0; step < 2 && exponent < -969; step++) {
        x *= 0x1p-969;
        exponent += 969;
    }
    exponent = exponent > 1023 ? 1023 : exponent < -1022 ? -1022 : exponent;
    return x * power_of_two(exponent);
}

// Mantissa as an integer and its exponent, for x finite and not 0.
static uint64_t mantissa_of(double x, int *exponent) {
    const double part = frexp(absolute(x), exponent);

    *exponent -= FRACTION_BITS + 1;
    return (uint64_t)(part * 0x1p53);
}

// x modulo y with the sign of x by long division; the last bit of the quotient in
// `odd`.
static double divide(double x, double y, int *odd) {
    int ex;
    int ey;

    *odd = 0;
    if (isnan(x) || isnan(y) || isinf(x) || y == 0.0) {
        return NAN;
    }
    if (isinf(y) || x == 0.0 || absolute(x) < absolute(y)) {
        return x;
    }
    uint64_t rest = mantissa_of(x, &ex);
    const uint64_t by = mantissa_of(y, &ey);
    for (;; ex--) {
        *odd = rest >= by;
        rest -= rest >= by ? by : 0;
        if (ex == ey) {
            break;
        }
        rest <<= 1;
    }
    return with_sign(ldexp((double)rest, ey), x);
}

double fmod(double x, double y) {
    int odd;

    return divide(x, y, &odd);
}

double remainder(double x, double y) {
    int odd;
    const double rest = divide(x, y, &odd);
    const double size = absolute(rest);
    const double by = absolute(y);
    const double half = size - (by - size); // exact near a tie; > 0: `by` is nearer

    if (isnan(rest) || isinf(y) || half < 0.0 || (half == 0.0 && !odd)) {
        return rest;
    }
    return with_sign(1.0, x) * (size - by);
}
