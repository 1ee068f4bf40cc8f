// SPDX-License-Identifier: Apache-2.0
// The float functions: the double ones, rounded once.
#include <math.h>

#define EMBER_LIBC_DEFINE(name)                                                        \
    float name##f(float x) {                                                           \
        return (float)name((double)x);                                                 \
    }
EMBER_LIBC_UNARY(EMBER_LIBC_DEFINE)
EMBER_LIBC_DEFINE(ceil)
EMBER_LIBC_DEFINE(fabs)
EMBER_LIBC_DEFINE(floor)
EMBER_LIBC_DEFINE(nearbyint)
EMBER_LIBC_DEFINE(rint)
EMBER_LIBC_DEFINE(round)
EMBER_LIBC_DEFINE(trunc)
#undef EMBER_LIBC_DEFINE

#define EMBER_LIBC_DEFINE(name)                                                        \
    float name##f(float x, float y) {                                                  \
        return (float)name((double)x, (double)y);                                      \
    }
EMBER_LIBC_BINARY(EMBER_LIBC_DEFINE)
EMBER_LIBC_DEFINE(copysign)
EMBER_LIBC_DEFINE(fmax)
EMBER_LIBC_DEFINE(fmin)
EMBER_LIBC_DEFINE(fmod)
EMBER_LIBC_DEFINE(remainder)
#undef EMBER_LIBC_DEFINE

float ldexpf(float x, int exponent) {
    return (float)ldexp((double)x, exponent);
}

float frexpf(float x, int *exponent) {
    return (float)frexp((double)x, exponent);
}
