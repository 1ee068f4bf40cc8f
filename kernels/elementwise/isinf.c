// SPDX-License-Identifier: Apache-2.0
// y = whether a is infinite.
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

EMBER_ROW1(f32, float, ember_fabsf(a) == EMBER_INF)
EMBER_ROW1(f64, double, fabs(a) == (double)EMBER_INF)
EMBER_ROW1(s64, int64_t, 0 * a)

static const ember_map_ops_t ops = {{f32, f64, s64}, .inputs = 1};
EMBER_MAP_KERNEL(isinf, 1);
