// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

const ember_number_t ember_map_bounds[2][3] = {
    {{.f32 = -EMBER_INF}, {.f64 = -(double)EMBER_INF}, {.s64 = INT64_MIN}},
    {{.f32 = EMBER_INF}, {.f64 = (double)EMBER_INF}, {.s64 = INT64_MAX}},
};
