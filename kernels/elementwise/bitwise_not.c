// SPDX-License-Identifier: Apache-2.0
// y = not a, bit by bit; a bool is a single bit.
#include "kernels/engine/map.h"

EMBER_ROW1(integer, int64_t, ~a)
EMBER_ROW1(truth, int64_t, a == 0)

static const ember_map_ops_t integers = {{NULL, NULL, integer}, .inputs = 1};
static const ember_map_ops_t truths = {{NULL, NULL, truth}, .inputs = 1};
EMBER_MAP_RUN(1)

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t a;
    ember_node_tensor(node, 0, &a);
    return prepare_with(node, state, a.dtype == EMBER_B1 ? &truths : &integers);
}

EMBER_STATE_MAY_POINT_TO(integers, ember_bitwise_not_integers);
EMBER_STATE_MAY_POINT_TO(truths, ember_bitwise_not_truths);
EMBER_KERNEL(bitwise_not, ember_map1_t);
