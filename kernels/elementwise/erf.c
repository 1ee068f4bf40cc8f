// SPDX-License-Identifier: Apache-2.0
// y = erf(a).
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

EMBER_ROW1(f32, float, ember_erff(a))
EMBER_ROW1(f64, double, erf(a))

static const ember_map_ops_t ops = {
    {f32, f64, NULL}, .inputs = 1, .flags = EMBER_MAP_FLOAT};
EMBER_MAP_KERNEL(erf, 1);
