// SPDX-License-Identifier: Apache-2.0
// y = a mod b with the sign of a; integer division by zero gives 0.
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

EMBER_ROW2(f32, float, ember_fmodf(a, b))
EMBER_ROW2(f64, double, fmod(a, b))
EMBER_ROW2(s64, int64_t, b == 0 || b == -1 ? 0 : a % b)

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 2, .flags = EMBER_MAP_NUMBER, .steps = EMBER_STEPS_REST};
EMBER_MAP_KERNEL(fmod, 2);
