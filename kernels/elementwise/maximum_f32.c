// SPDX-License-Identifier: Apache-2.0
// y = the larger of a and b; NaN wins, float32 in one layout.
#include "kernels/engine/map_f32.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_2_prepare(node, state);
}

EMBER_MAP_F32_2(maximum_f32, a != a ? a : b != b ? b : a > b ? a : b);
