// SPDX-License-Identifier: Apache-2.0
// y = a within the numbers b and c, which are cut to the dtype of a.
#include "kernels/elementwise/clamp.h"

static const ember_map_ops_t ops = {
    {ember_clamp_row_f32, ember_clamp_row_f64, ember_clamp_row_s64},
    .inputs = 3,
    .unpromoted = 6,
    .fitting = 6,
    .flags = EMBER_MAP_NUMBER};
EMBER_MAP_KERNEL(hardtanh, 3);
