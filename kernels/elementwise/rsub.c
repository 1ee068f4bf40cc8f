// SPDX-License-Identifier: Apache-2.0
// y = b - alpha a; c is alpha.
#include "kernels/engine/map.h"
#include "kernels/engine/promote.h"

EMBER_ROW3(f32, float, b - c * a)
EMBER_ROW3(f64, double, b - c * a)
EMBER_ROW3(s64, int64_t, ember_wrap_sub(b, ember_wrap_mul(c, a)))

static const ember_map_ops_t ops = {{f32, f64, s64},
                                    .inputs = 3,
                                    .fitting = 4,
                                    .unpromoted = 4,
                                    .flags = EMBER_MAP_ALPHA | EMBER_MAP_NUMBER};
EMBER_MAP_RUN(3)

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_refuse_bools(node);
    return prepare_with(node, state, &ops);
}

EMBER_STATE_MAY_POINT_TO(ops, ember_rsub_ops);
EMBER_KERNEL(rsub, ember_map3_t);
