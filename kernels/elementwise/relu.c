// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else 0; NaN stays.
#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

EMBER_ROW1(f32, float, a != a ? a : a <= 0.0f ? 0.0f : a)
EMBER_ROW1(f64, double, a != a ? a : a <= 0.0 ? 0.0 : a)
EMBER_ROW1(s64, int64_t, a <= 0 ? 0 : a)

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 1, .flags = EMBER_MAP_NUMBER};
EMBER_MAP_KERNEL(relu, 1);
