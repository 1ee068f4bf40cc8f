// SPDX-License-Identifier: Apache-2.0
// y = a + alpha b; c is alpha.
#include "kernels/engine/map.h"

EMBER_ROW3(f32, float, a + c * b)
EMBER_ROW3(f64, double, a + c * b)
EMBER_ROW3(s64, int64_t, ember_wrap_add(a, ember_wrap_mul(c, b)))

static const ember_map_ops_t ops = {{f32, f64, s64},
                                    .inputs = 3,
                                    .fitting = 4,
                                    .unpromoted = 4,
                                    .flags = EMBER_MAP_ALPHA};
EMBER_MAP_KERNEL(add, 3);
