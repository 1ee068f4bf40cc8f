// SPDX-License-Identifier: Apache-2.0
// y = whether a is below b.
#include "kernels/engine/map.h"

EMBER_TRUTH2(f32, float, a < b)
EMBER_TRUTH2(f64, double, a < b)
EMBER_TRUTH2(s64, int64_t, a < b)

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 2, .flags = EMBER_MAP_TRUTH};
EMBER_MAP_KERNEL(lt, 2);
