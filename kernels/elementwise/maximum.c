// SPDX-License-Identifier: Apache-2.0
// y = the larger of a and b; NaN wins.
#include "kernels/engine/map.h"

EMBER_ROW2(f32, float, a != a ? a : b != b ? b : a > b ? a : b)
EMBER_ROW2(f64, double, a != a ? a : b != b ? b : a > b ? a : b)
EMBER_ROW2(s64, int64_t, a > b ? a : b)

static const ember_map_ops_t ops = {{f32, f64, s64}, .inputs = 2};
EMBER_MAP_KERNEL(maximum, 2);
