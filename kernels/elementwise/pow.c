// SPDX-License-Identifier: Apache-2.0
// y = a to the power b.
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

// By squaring, so that integers wrap; a negative exponent gives 0, rounded.
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

// C libraries differ for NaN and 1.
static double power_f64(double a, double b) {
    if (a == 1.0 || b == 0.0) {
        return 1.0;
    }
    return a != a || b != b ? a + b : pow(a, b);
}

EMBER_ROW2(f32, float, ember_powf(a, b))
EMBER_ROW2(f64, double, power_f64(a, b))
EMBER_ROW2(s64, int64_t, power(a, b))

// ATen computes a root if the exponent is the number 0.5 or -0.5, except in float16:
// that of -inf is NaN, and that of -0.0 keeps the sign.
EMBER_ROW2(root_f32, float, b < 0.0f ? 1.0f / sqrtf(a) : sqrtf(a))
EMBER_ROW2(root_f64, double, b < 0.0 ? 1.0 / sqrt(a) : sqrt(a))

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 2, .fitting = 2, .flags = EMBER_MAP_NUMBER};
static const ember_map_ops_t roots = {
    {root_f32, root_f64, NULL}, .inputs = 2, .fitting = 2, .flags = EMBER_MAP_NUMBER};

static bool is_root(ember_node_t *node) {
    ember_tensor_t a;
    if (ember_node_kind(node, 0) != EMBER_TENSOR ||
        ember_node_kind(node, 1) != EMBER_DOUBLE) {
        return false;
    }
    ember_node_tensor(node, 0, &a);
    return fabs(ember_node_double(node, 1)) == 0.5 && a.dtype != EMBER_F16;
}

EMBER_MAP_RUN(2)
static ember_status_t prepare(ember_node_t *node, void *state) {
    return prepare_with(node, state, is_root(node) ? &roots : &ops);
}

EMBER_STATE_MAY_POINT_TO(ops, ember_pow_ops);
EMBER_STATE_MAY_POINT_TO(roots, ember_pow_roots);
EMBER_KERNEL(pow, ember_map2_t);
