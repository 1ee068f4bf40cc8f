// SPDX-License-Identifier: Apache-2.0
// y = a within the numbers b and c, which are converted to the dtype of a.
#include "kernels/elementwise/clamp.h"

static const ember_map_ops_t ops = {
    {ember_clamp_row_f32, ember_clamp_row_f64, ember_clamp_row_s64},
    .inputs = 3,
    .unpromoted = 6,
    .fitting = 6,
    .flags = EMBER_MAP_NUMBER};
EMBER_MAP_RUN(3)

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t a;
    ember_node_tensor(node, 0, &a);
    const bool below =
        ember_node_double(node, 1) < 0.0 || ember_node_double(node, 2) < 0.0;
    if (a.dtype == EMBER_U8 && below) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "hardtanh: a negative limit for an unsigned dtype");
    }
    return prepare_with(node, state, &ops);
}

EMBER_STATE_MAY_POINT_TO(ops, ember_hardtanh_ops);
EMBER_KERNEL(hardtanh, ember_map3_t);
