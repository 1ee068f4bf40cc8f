// SPDX-License-Identifier: Apache-2.0
// y = c where b is true, else a.
#include "kernels/engine/map.h"
#include "kernels/engine/promote.h"

EMBER_ROW3(f32, float, b != 0.0f ? c : a)
EMBER_ROW3(f64, double, b != 0.0 ? c : a)
EMBER_ROW3(s64, int64_t, b != 0 ? c : a)

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 3, .fitting = 4, .unpromoted = 6};
EMBER_MAP_RUN(3)

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t mask;
    ember_node_tensor(node, 1, &mask);
    if (mask.dtype != EMBER_B1) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "masked_fill: the mask is not bool");
    }
    ember_output_check_self(node);
    return prepare_with(node, state, &ops);
}

EMBER_STATE_MAY_POINT_TO(ops, ember_masked_fill_ops);
EMBER_KERNEL(masked_fill, ember_map3_t);
