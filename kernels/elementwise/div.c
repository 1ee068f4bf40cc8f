// SPDX-License-Identifier: Apache-2.0
// y = a / b, in floats.
#include "kernels/engine/map.h"

EMBER_ROW2(f32, float, a / b)
EMBER_ROW2(f64, double, a / b)

static const ember_map_ops_t ops = {
    {f32, f64, NULL}, .inputs = 2, .flags = EMBER_MAP_FLOAT};
EMBER_MAP_KERNEL(div, 2);
