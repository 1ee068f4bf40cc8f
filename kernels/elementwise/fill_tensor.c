// SPDX-License-Identifier: Apache-2.0
// y = b, a number, in the shape of a.
#include "kernels/engine/map.h"

EMBER_ROW2(f32, float, ((void)a, b))
EMBER_ROW2(f64, double, ((void)a, b))
EMBER_ROW2(s64, int64_t, ((void)a, b))

static const ember_map_ops_t ops = {{f32, f64, s64}, .inputs = 2, .unpromoted = 1};
EMBER_MAP_KERNEL(fill_tensor, 2);
