// SPDX-License-Identifier: Apache-2.0
// y = whether a is zero.
#include "kernels/engine/map.h"

EMBER_TRUTH1(f32, float, a == 0.0f)
EMBER_TRUTH1(f64, double, a == 0.0)
EMBER_TRUTH1(s64, int64_t, a == 0)

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 1, .flags = EMBER_MAP_TRUTH};
EMBER_MAP_KERNEL(logical_not, 1);
