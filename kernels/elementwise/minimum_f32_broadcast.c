// SPDX-License-Identifier: Apache-2.0
// y = the smaller of a and b; NaN wins, float32, one operand repeated along the other.
#include "kernels/engine/map_f32.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_broadcast_prepare(node, state);
}

EMBER_MAP_F32_BROADCAST(minimum_f32_broadcast, a != a ? a : b != b ? b : a < b ? a : b);
