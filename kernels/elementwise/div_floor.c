// SPDX-License-Identifier: Apache-2.0
// y = a / b rounded down; integers by zero give 0.
#include <math.h>
#include <string.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

// Like ember_floor_dividef.
static double floor_f64(double a, double b) {
    if (b == 0.0) {
        return a / b;
    }
    const double r = fmod(a, b);
    double q = (a - r) / b;
    q -= r != 0.0 && (r < 0.0) != (b < 0.0) ? 1.0 : 0.0;
    const double whole = floor(q);
    return q == 0.0 ? copysign(0.0, a / b) : q - whole > 0.5 ? whole + 1.0 : whole;
}

static int64_t floor_s64(int64_t a, int64_t b) {
    if (b == 0 || b == -1) {
        return b == 0 ? 0 : ember_wrap_sub(0, a);
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

EMBER_ROW2(f32, float, ember_floor_dividef(a, b))
EMBER_ROW2(f64, double, floor_f64(a, b))
EMBER_ROW2(s64, int64_t, floor_s64(a, b))

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 2, .flags = EMBER_MAP_NUMBER, .steps = EMBER_STEPS_REST};
EMBER_MAP_RUN(2)

// The mode is a string, or absent in floor_divide.
static ember_status_t prepare(ember_node_t *node, void *state) {
    uint32_t length = 5;
    const char *mode = "floor";
    if (ember_node_kind(node, 2) == EMBER_STRING) {
        mode = ember_node_string(node, 2, &length);
    } else if (ember_node_kind(node, 2) == EMBER_NONE) {
        return EMBER_UNSUPPORTED;
    }
    if (length != 5 || memcmp(mode, "floor", 5) != 0) {
        return EMBER_UNSUPPORTED;
    }
    return prepare_with(node, state, &ops);
}

EMBER_STATE_MAY_POINT_TO(ops, ember_div_floor_ops);
EMBER_KERNEL(div_floor, ember_map2_t);
