// SPDX-License-Identifier: Apache-2.0
// y = |a|.
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

EMBER_ROW1(f32, float, ember_fabsf(a))
EMBER_ROW1(f64, double, fabs(a))
EMBER_ROW1(s64, int64_t, a < 0 ? ember_wrap_sub(0, a) : a)

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 1, .flags = EMBER_MAP_NUMBER | EMBER_MAP_SAME};
EMBER_MAP_KERNEL(abs, 1);
