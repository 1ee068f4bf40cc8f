// SPDX-License-Identifier: Apache-2.0
// Functions that are one instruction on cores with a double-precision unit; other cores
// take them from the compiler's run-time library.
#include <math.h>

double sqrt(double x) {
    return __builtin_sqrt(x);
}

float sqrtf(float x) {
    return __builtin_sqrtf(x);
}

double fma(double x, double y, double z) {
    return __builtin_fma(x, y, z);
}

float fmaf(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}
