// SPDX-License-Identifier: Apache-2.0
// y = c where b is true, else a.
#include "kernels/engine/map.h"

EMBER_ROW3(f32, float, b != 0.0f ? c : a)
EMBER_ROW3(f64, double, b != 0.0 ? c : a)
EMBER_ROW3(s64, int64_t, b != 0 ? c : a)

static const ember_map_ops_t ops = {{f32, f64, s64}, .inputs = 3, .unpromoted = 6};
EMBER_MAP_KERNEL(masked_fill, 3);
