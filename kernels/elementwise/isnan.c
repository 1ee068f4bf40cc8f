// SPDX-License-Identifier: Apache-2.0
// y = whether a is NaN.
#include "kernels/engine/map.h"

EMBER_ROW1(f32, float, a != a)
EMBER_ROW1(f64, double, a != a)
EMBER_ROW1(s64, int64_t, 0 * a)

static const ember_map_ops_t ops = {{f32, f64, s64}, .inputs = 1};
EMBER_MAP_KERNEL(isnan, 1);
