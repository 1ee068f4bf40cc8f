// SPDX-License-Identifier: Apache-2.0
// exp, log and their relatives.
#include <math.h>

#include "bits.h"
#include "double_double.h"

#define LN2_HIGH     0x1.62e42fee00000p-1 // 32 bits: exact times any exponent
#define LN2_LOW      0x1.a39ef35793c76p-33
#define LN2          0x1.62e42fefa39efp-1
#define LN2_REST     0x1.abc9e3b39803fp-56 // LN2 + LN2_REST: 106 bits
#define ONE_BY_LN2   0x1.71547652b82fep+0
#define LOG10_2_HIGH 0x1.3441350800000p-2
#define LOG10_2_LOW  0x1.f79fef311f12bp-34
#define ONE_BY_LN10  0x1.bcb7b1526e50ep-2

// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2: Taylor, 1/2!, 1/3!, ..
static double exp_tail(double r) {
    static const double c[] = {1.0 / 2,
                               1.0 / 6,
                               1.0 / 24,
                               1.0 / 120,
                               1.0 / 720,
                               1.0 / 5040,
                               1.0 / 40320,
                               1.0 / 362880,
                               1.0 / 3628800,
                               1.0 / 39916800,
                               1.0 / 479001600,
                               1.0 / 6227020800.0,
                               1.0 / 87178291200.0};

    return polynomial(c, sizeof c / sizeof c[0], r);
}

// e^(high + low) for |low| far below |high|.
static double exp_sum(double high, double low) {
    if (high > 709.8) {
        return high * HUGE_VAL; // overflow, and infinity itself
    }
    if (high < -745.2) {
        return 0.0;
    }
    if (isnan(high)) {
        return high;
    }
    const double k = rint(high * ONE_BY_LN2);
    const double a = high - k * LN2_HIGH;
    const double b = low - k * LN2_LOW;
    const double r = a + b;
    const double lost = b - (r - a);

    return ldexp(1.0 + (r + (r * r * exp_tail(r) + lost)), (int)k);
}

double exp(double x) {
    return exp_sum(x, 0.0);
}

double exp2(double x) {
    if (!(absolute(x) < 1100.0)) {
        return exp_sum(x, 0.0);
    }
    const double k = rint(x);
    return ldexp(exp_sum((x - k) * LN2, (x - k) * LN2_REST), (int)k);
}

double expm1(double x) {
    if (isnan(x) || x > 40.0) {
        return exp(x);
    }
    if (x < -40.0) {
        return -1.0;
    }
    const double k = rint(x * ONE_BY_LN2);
    const double a = x - k * LN2_HIGH;
    const double b = k * LN2_LOW;
    const double r = a - b;
    const double lost = (a - r) - b;
    const double part = r + (r * r * exp_tail(r) + lost);

    if (k == 0.0) {
        return x == 0.0 ? x : part;
    }
    const double scale = power_of_two((int)k);
    return scale * part + (scale - 1.0);
}

// ---- log ---------------------------------------------------------------------------

// x = (1 + f) 2^k with 1 + f in [sqrt(1/2), sqrt(2)); x is finite and > 0.
static double split(double x, int *k) {
    double part = frexp(x, k);

    if (part < 0.70710678118654752) {
        part *= 2.0;
        *k -= 1;
    }
    return part - 1.0;
}

// 2/3 z + 2/5 z^2 + .. = (2 atanh(s) - 2 s) / s with z = s^2, |s| < 0.172.
static double log_tail(double z) {
    static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                               2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};

    return z * polynomial(c, sizeof c / sizeof c[0], z);
}

// log(1 + f) - f: with s = f / (2 + f), log(1 + f) = 2 atanh(s) and 2 s = f - s f.
static double log_rest(double f) {
    const double s = f / (2.0 + f);
    const double half = 0.5 * f * f;

    return s * (half + log_tail(s * s)) - half;
}

// True, with the result, if log(x) is not an ordinary number.
static int log_special(double x, double *result) {
    if (x > 0.0 && !isinf(x)) {
        return 0;
    }
    *result = x == 0.0 ? -HUGE_VAL : x < 0.0 ? NAN : x;
    return 1;
}

double log(double x) {
    double result;
    int k;

    if (log_special(x, &result)) {
        return result;
    }
    const double f = split(x, &k);
    return k * LN2_HIGH + (f + (log_rest(f) + k * LN2_LOW));
}

double log2(double x) {
    double result;
    int k;

    if (log_special(x, &result)) {
        return result;
    }
    const double f = split(x, &k);
    const pair_t sum = two_sum(f, log_rest(f));
    const pair_t scaled = pair_times(sum, (pair_t){ONE_BY_LN2, 0x1.777d0ffda0d24p-56});
    const pair_t all = two_sum(k, scaled.high);
    return all.high + (all.low + scaled.low);
}

double log10(double x) {
    double result;
    int k;

    if (log_special(x, &result)) {
        return result;
    }
    const double f = split(x, &k);
    const pair_t sum = two_sum(f, log_rest(f));
    const pair_t scaled = pair_times(sum, (pair_t){ONE_BY_LN10, 0x1.9a8d7ac8ed4fap-57});
    const pair_t all = two_sum(k * LOG10_2_HIGH, scaled.high);
    return all.high + (all.low + (scaled.low + k * LOG10_2_LOW));
}

double log1p(double x) {
    const double u = 1.0 + x;

    if (!(x > -1.0) || isinf(x)) {
        return log(u);
    }
    if (absolute(x) < 0x1p-54) {
        return x;
    }
    if (x > -0.29 && x < 0.41) {
        return x + log_rest(x);
    }
    const double lost = absolute(x) < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
    return log(u) + lost / u;
}

// ---- pow ---------------------------------------------------------------------------

// log(x) to about 70 bits, x finite and > 0.
static pair_t log_pair(double x) {
    int k;
    const double f = split(x, &k);
    const pair_t s = pair_divide(f, two_sum(2.0, f));
    const double z = s.high * s.high;
    pair_t sum = two_sum(2.0 * s.high, s.high * log_tail(z));

    sum.low += 2.0 * s.low;
    const pair_t whole = pair_times((pair_t){k, 0.0}, (pair_t){LN2, LN2_REST});
    const pair_t all = two_sum(whole.high, sum.high);
    return two_sum(all.high, all.low + (whole.low + sum.low));
}

// 0: y is not an integer, 1: odd, 2: even.
static int parity(double y) {
    if (absolute(y) >= 0x1p53) {
        return 2;
    }
    if (trunc(y) != y) {
        return 0;
    }
    return ((int64_t)y & 1) != 0 ? 1 : 2;
}

// x = 0 or infinite, y finite and not 0.
static double pow_edge(double x, double y, int odd) {
    const double size = (absolute(x) > 1.0) == (y > 0.0) ? HUGE_VAL : 0.0;

    return odd ? with_sign(size, x) : size;
}

static double pow_infinite(double x, double y) {
    const double size = absolute(x);

    if (size == 1.0) {
        return 1.0;
    }
    return (size > 1.0) == (y > 0.0) ? HUGE_VAL : 0.0;
}

// e^(log y). Beyond 2^64 every y gives 0, 1 or infinity, as 2^64 does.
static double exp_product(pair_t log, double y) {
    const double most = with_sign(0x1p64, y);
    const double factor = absolute(y) < 0x1p64 ? y : most;
    const pair_t power = pair_times(log, (pair_t){factor, 0.0});

    return exp_sum(power.high, absolute(power.high) < 1000.0 ? power.low : 0.0);
}

double pow(double x, double y) {
    if (y == 0.0 || x == 1.0) {
        return 1.0;
    }
    if (isnan(x) || isnan(y)) {
        return NAN;
    }
    if (isinf(y)) {
        return pow_infinite(x, y);
    }
    const int kind = parity(y);
    if (x == 0.0 || isinf(x)) {
        return pow_edge(x, y, kind == 1);
    }
    if (x < 0.0 && kind == 0) {
        return NAN;
    }
    const double size = exp_product(log_pair(absolute(x)), y);
    return x < 0.0 && kind == 1 ? -size : size;
}

double cbrt(double x) {
    if (x == 0.0 || !isfinite(x)) {
        return x;
    }
    const double size = absolute(x);
    double root = exp(log(size) / 3.0);
    root -= (root - size / (root * root)) / 3.0; // one step of Newton's method
    return with_sign(root, x);
}

double hypot(double x, double y) {
    const double a = fmax(absolute(x), absolute(y));
    const double b = fmin(absolute(x), absolute(y));
    int k;

    if (isinf(x) || isinf(y)) {
        return HUGE_VAL;
    }
    if (isnan(x) || isnan(y) || a == 0.0) {
        return x + y == 0.0 ? 0.0 : NAN;
    }
    (void)frexp(a, &k);
    const double p = ldexp(a, -k);
    const double q = ldexp(b, -k);
    return ldexp(sqrt(p * p + q * q), k);
}
