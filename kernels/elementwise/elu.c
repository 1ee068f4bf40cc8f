// SPDX-License-Identifier: Apache-2.0
// y = c a where a is positive, else c b (exp(d a) - 1).
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

EMBER_ROW4(f32, float, a > 0.0f ? a * c : ember_expm1f(a * d) * (b * c))
EMBER_ROW4(f64, double, a > 0.0 ? a * c : expm1(a * d) * (b * c))

static const ember_map_ops_t ops = {
    {f32, f64, NULL}, .inputs = 4, .unpromoted = 14, .flags = EMBER_MAP_SAME};
EMBER_MAP_KERNEL(elu, 4);
