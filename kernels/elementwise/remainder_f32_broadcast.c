// SPDX-License-Identifier: Apache-2.0
// y = a mod b as in Python, float32; one operand is repeated along the other, or b is a
// number.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_rest_prepare(node, state);
}

EMBER_MAP_F32_BROADCAST(remainder_f32_broadcast, ember_remainderf(a, b));
