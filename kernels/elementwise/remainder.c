// SPDX-License-Identifier: Apache-2.0
// y = a mod b as in Python.
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

// The remainder with the sign of the divisor; integer division by zero gives 0.
static double mod_f64(double a, double b) {
    const double r = fmod(a, b);
    return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}

static int64_t mod_s64(int64_t a, int64_t b) {
    const int64_t r = b == 0 || b == -1 ? 0 : a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

EMBER_ROW2(f32, float, ember_remainderf(a, b))
EMBER_ROW2(f64, double, mod_f64(a, b))
EMBER_ROW2(s64, int64_t, mod_s64(a, b))

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 2, .flags = EMBER_MAP_NUMBER, .steps = EMBER_STEPS_REST};
EMBER_MAP_KERNEL(remainder, 2);
