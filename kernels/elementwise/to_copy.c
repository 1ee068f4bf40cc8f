// SPDX-License-Identifier: Apache-2.0
// y = a in the dtype and dim order of the output.
#include "kernels/engine/map.h"

EMBER_ROW1(f32, float, a)
EMBER_ROW1(f64, double, a)
EMBER_ROW1(s64, int64_t, a)

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 1, .flags = EMBER_MAP_ANY};
EMBER_MAP_KERNEL(to_copy, 1);
