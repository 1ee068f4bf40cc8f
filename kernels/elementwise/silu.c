// SPDX-License-Identifier: Apache-2.0
// y = a / (1 + exp(-a)).
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

EMBER_ROW1(f32, float, a / (1.0f + ember_expf(-a)))
EMBER_ROW1(f64, double, a / (1.0 + exp(-a)))

static const ember_map_ops_t ops = {
    {f32, f64, NULL}, .inputs = 1, .flags = EMBER_MAP_SAME};
EMBER_MAP_KERNEL(silu, 1);
