// SPDX-License-Identifier: Apache-2.0
// y = a / b, in floats: the rounding mode is None.
#include "kernels/engine/map.h"

EMBER_ROW2(f32, float, a / b)
EMBER_ROW2(f64, double, a / b)

static const ember_map_ops_t ops = {
    {f32, f64, NULL}, .inputs = 2, .flags = EMBER_MAP_FLOAT};
EMBER_MAP_RUN(2)

static ember_status_t prepare(ember_node_t *node, void *state) {
    if (ember_node_kind(node, 2) != EMBER_NONE) {
        return EMBER_UNSUPPORTED;
    }
    return prepare_with(node, state, &ops);
}

EMBER_STATE_MAY_POINT_TO(ops, ember_div_none_ops);
EMBER_KERNEL(div_none, ember_map2_t);
