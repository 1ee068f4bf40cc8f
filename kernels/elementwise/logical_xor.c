// SPDX-License-Identifier: Apache-2.0
// y = whether one of a, b is nonzero.
#include "kernels/engine/map.h"

EMBER_TRUTH2(f32, float, (a != 0.0f) != (b != 0.0f))
EMBER_TRUTH2(f64, double, (a != 0.0) != (b != 0.0))
EMBER_TRUTH2(s64, int64_t, (a != 0) != (b != 0))

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 2, .flags = EMBER_MAP_TRUTH};
EMBER_MAP_KERNEL(logical_xor, 2);
