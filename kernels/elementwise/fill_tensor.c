// SPDX-License-Identifier: Apache-2.0
// y = b, a number, in the shape of a.
#include "kernels/engine/map.h"

EMBER_ROW2(f32, float, ((void)a, b))
EMBER_ROW2(f64, double, ((void)a, b))
EMBER_ROW2(s64, int64_t, ((void)a, b))

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 2, .unpromoted = 1, .flags = EMBER_MAP_ANY};
EMBER_MAP_RUN(2)

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t value;
    ember_node_tensor(node, 1, &value);
    if (value.rank != 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "fill: the value has dimensions");
    }
    return prepare_with(node, state, &ops);
}

EMBER_STATE_MAY_POINT_TO(ops, ember_fill_tensor_ops);
EMBER_KERNEL(fill_tensor, ember_map2_t);
