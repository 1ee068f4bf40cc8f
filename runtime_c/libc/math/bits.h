// SPDX-License-Identifier: Apache-2.0
// A double as its bits, and powers of two.
#ifndef EMBER_LIBC_BITS_H
#define EMBER_LIBC_BITS_H

#include <stdint.h>

typedef union double_bits {
    double value;
    uint64_t bits;
} double_bits_t;

#define SIGN_BIT      UINT64_C(0x8000000000000000)
#define FRACTION_BITS 52
#define FRACTION      ((UINT64_C(1) << FRACTION_BITS) - 1)

static inline uint64_t bits_of(double x) {
    return (double_bits_t){.value = x}.bits;
}

static inline double from_bits(uint64_t bits) {
    return (double_bits_t){.bits = bits}.value;
}

static inline double absolute(double x) {
    return from_bits(bits_of(x) & ~SIGN_BIT);
}

// `magnitude` (not negative) with the sign of `sign`.
static inline double with_sign(double magnitude, double sign) {
    return from_bits(bits_of(magnitude) | (bits_of(sign) & SIGN_BIT));
}

// 2 to the power of a normal exponent, -1022 to 1023.
static inline double power_of_two(int exponent) {
    return from_bits((uint64_t)(exponent + 1023) << FRACTION_BITS);
}

// The biased exponent, 0 (zero, subnormal) to 2047 (infinite, NaN).
static inline int exponent_of(double x) {
    return (int)(bits_of(x) >> FRACTION_BITS & 0x7ff);
}

// The value of c[0] + c[1] x + .. + c[count - 1] x^(count - 1).
static inline double polynomial(const double *c, int count, double x) {
    double sum = c[count - 1];

    for (int i = count - 2; i >= 0; i--) {
        sum = sum * x + c[i];
    }
    return sum;
}

#endif // EMBER_LIBC_BITS_H
