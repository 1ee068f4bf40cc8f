// SPDX-License-Identifier: Apache-2.0
// Numbers of about 106 bits as the sum of two doubles, |low| <= ulp(high) / 2.
#ifndef EMBER_LIBC_DOUBLE_DOUBLE_H
#define EMBER_LIBC_DOUBLE_DOUBLE_H

typedef struct pair {
    double high;
    double low;
} pair_t;

// a + b exactly.
static inline pair_t two_sum(double a, double b) {
    const double high = a + b;
    const double part = high - a;

    return (pair_t){high, (a - (high - part)) + (b - part)};
}

// The upper 26 bits of a.
static inline double upper_half(double a) {
    const double c = 134217729.0 * a; // 2^27 + 1

    return c - (c - a);
}

// a * b exactly, unless something overflows (without fma, which many cores lack).
static inline pair_t two_product(double a, double b) {
    const double high = a * b;
    const double ah = upper_half(a);
    const double bh = upper_half(b);
    const double al = a - ah;
    const double bl = b - bh;

    return (pair_t){high, al * bl - (((high - ah * bh) - al * bh) - ah * bl)};
}

static inline pair_t pair_times(pair_t a, pair_t b) {
    const pair_t product = two_product(a.high, b.high);

    return two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

// a / b.
static inline pair_t pair_divide(double a, pair_t b) {
    const double quotient = a / b.high;
    const pair_t back = two_product(quotient, b.high);

    return two_sum(quotient, ((a - back.high) - back.low - quotient * b.low) / b.high);
}

#endif // EMBER_LIBC_DOUBLE_DOUBLE_H
