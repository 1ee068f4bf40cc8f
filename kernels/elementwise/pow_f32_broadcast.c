// SPDX-License-Identifier: Apache-2.0
// y = a to the power b, float32; one operand is repeated along the other, or b is a
// number other than +-0.5, which are roots.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    const bool number = ember_node_kind(node, 1) == EMBER_DOUBLE;
    if (number && __builtin_fabs(ember_node_double(node, 1)) == 0.5) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_either_prepare(node, state);
}

EMBER_MAP_F32_BROADCAST(pow_f32_broadcast, ember_powf(a, b));
