// SPDX-License-Identifier: Apache-2.0
// y = the angle of the point (b, a).
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

EMBER_ROW2(f32, float, ember_atan2f(a, b))
EMBER_ROW2(f64, double, atan2(a, b))

static const ember_map_ops_t ops = {
    {f32, f64, NULL}, .inputs = 2, .flags = EMBER_MAP_FLOAT};
EMBER_MAP_KERNEL(atan2, 2);
