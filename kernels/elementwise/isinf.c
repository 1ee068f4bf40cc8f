// SPDX-License-Identifier: Apache-2.0
// y = whether a is infinite.
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"
#include "kernels/engine/promote.h"

EMBER_TRUTH1(f32, float, ember_fabsf(a) == EMBER_INF)
EMBER_TRUTH1(f64, double, fabs(a) == (double)EMBER_INF)
EMBER_TRUTH1(s64, int64_t, 0 * a)

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 1, .flags = EMBER_MAP_TRUTH};
EMBER_MAP_RUN(1)

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_output_check(node, EMBER_B1);
    return prepare_with(node, state, &ops);
}

EMBER_STATE_MAY_POINT_TO(ops, ember_isinf_ops);
EMBER_KERNEL(isinf, ember_map1_t);
