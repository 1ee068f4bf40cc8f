// SPDX-License-Identifier: Apache-2.0
// The parts of <math.h> that Ember uses; math.c implements what the compiler does not.
#ifndef EMBER_LIBC_MATH_H
#define EMBER_LIBC_MATH_H

#define NAN       __builtin_nanf("")
#define INFINITY  __builtin_inff()
#define HUGE_VAL  __builtin_inf()
#define HUGE_VALF __builtin_inff()

#define isnan(x)    __builtin_isnan(x)
#define isinf(x)    __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x)  __builtin_signbit(x)

double fabs(double x);
float fabsf(float x);

#endif // EMBER_LIBC_MATH_H
