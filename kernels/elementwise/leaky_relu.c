// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else a b.
#include "kernels/engine/map.h"

EMBER_ROW2(f32, float, a > 0.0f ? a : a * b)
EMBER_ROW2(f64, double, a > 0.0 ? a : a * b)

static const ember_map_ops_t ops = {
    {f32, f64, NULL}, .inputs = 2, .unpromoted = 2, .flags = EMBER_MAP_SAME};
EMBER_MAP_KERNEL(leaky_relu, 2);
