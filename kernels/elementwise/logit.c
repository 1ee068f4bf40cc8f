// SPDX-License-Identifier: Apache-2.0
// y = log(a / (1 - a)); b is eps.
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

// log(x / (1 - x)) with x clamped to [eps, 1 - eps]; no clamp if eps is None, which
// reads as the lowest number.
static float logit(float x, float eps) {
    if (eps >= 0.0f && x == x) {
        x = x < eps ? eps : x > 1.0f - eps ? 1.0f - eps : x;
    }
    return ember_logf(x / (1.0f - x));
}

static double logit_f64(double x, double eps) {
    if (eps >= 0.0 && x == x) {
        x = x < eps ? eps : x > 1.0 - eps ? 1.0 - eps : x;
    }
    return log(x / (1.0 - x));
}

EMBER_ROW2(f32, float, logit(a, b))
EMBER_ROW2(f64, double, logit_f64(a, b))

static const ember_map_ops_t ops = {{f32, f64, NULL},
                                    .inputs = 2,
                                    .unpromoted = 2,
                                    .flags = EMBER_MAP_FLOAT,
                                    .bounds = ember_map_bounds};
EMBER_MAP_KERNEL(logit, 2);
