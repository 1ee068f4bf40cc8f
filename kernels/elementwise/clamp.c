// SPDX-License-Identifier: Apache-2.0
// y = a within [b, c]; None means no bound; NaN stays; c wins over b.
#include "kernels/elementwise/clamp.h"

static const ember_map_ops_t ops = {
    {ember_clamp_row_f32, ember_clamp_row_f64, ember_clamp_row_s64},
    .inputs = 3,
    .fitting = 6,
    .bounds = ember_map_bounds};
EMBER_MAP_KERNEL(clamp, 3);
