// SPDX-License-Identifier: Apache-2.0
// y = a within [b, c]; None is no bound; NaN wins; c wins over b.
#include "kernels/engine/map.h"

EMBER_ROW3(f32, float,
           a != a                ? a
           : b != b              ? b
           : c != c              ? c
           : (a < b ? b : a) > c ? c
           : a < b               ? b
                                 : a)
EMBER_ROW3(f64, double,
           a != a                ? a
           : b != b              ? b
           : c != c              ? c
           : (a < b ? b : a) > c ? c
           : a < b               ? b
                                 : a)
EMBER_ROW3(s64, int64_t, (a < b ? b : a) > c ? c : a < b ? b : a)

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 3, .bounds = ember_map_bounds};
EMBER_MAP_KERNEL(clamp, 3);
