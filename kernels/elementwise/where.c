// SPDX-License-Identifier: Apache-2.0
// y = b where a is true, else c.
#include "kernels/engine/map.h"

EMBER_ROW3(f32, float, a != 0.0f ? b : c)
EMBER_ROW3(f64, double, a != 0.0 ? b : c)
EMBER_ROW3(s64, int64_t, a != 0 ? b : c)

static const ember_map_ops_t ops = {{f32, f64, s64}, .inputs = 3, .unpromoted = 1};
EMBER_MAP_KERNEL(where, 3);
