// SPDX-License-Identifier: Apache-2.0
// y = a to the power b.
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

// Squaring, so that integers wrap; an exponent below zero rounds to 0.
static int64_t power(int64_t base, int64_t exponent) {
    uint64_t square = (uint64_t)base;
    uint64_t result = 1;
    if (exponent < 0) {
        return base == 1 ? 1 : base != -1 ? 0 : exponent % 2 != 0 ? -1 : 1;
    }
    for (; exponent > 0; exponent >>= 1, square *= square) {
        result *= (exponent & 1) != 0 ? square : 1;
    }
    return (int64_t)result;
}

// C libraries disagree about NaN and 1.
static double power_f64(double a, double b) {
    if (a == 1.0 || b == 0.0) {
        return 1.0;
    }
    return a != a || b != b ? a + b : pow(a, b);
}

EMBER_ROW2(f32, float, ember_powf(a, b))
EMBER_ROW2(f64, double, power_f64(a, b))
EMBER_ROW2(s64, int64_t, power(a, b))

static const ember_map_ops_t ops = {{f32, f64, s64}, .inputs = 2};
EMBER_MAP_KERNEL(pow, 2);
