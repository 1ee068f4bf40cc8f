// SPDX-License-Identifier: Apache-2.0
// y = -1, 0 or 1; NaN gives 0, as in PyTorch.
#include "kernels/engine/map.h"

EMBER_ROW1(f32, float, (float)((a > 0.0f) - (a < 0.0f)))
EMBER_ROW1(f64, double, (a > 0.0) - (a < 0.0))
EMBER_ROW1(s64, int64_t, (a > 0) - (a < 0))

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 1, .flags = EMBER_MAP_SAME};
EMBER_MAP_KERNEL(sign, 1);
