// SPDX-License-Identifier: Apache-2.0
// y = a + b, float32, one operand repeated along the other; alpha is 1. Advanced SIMD.
#include "kernels/engine/neon/map_f32_neon.h"
#include "kernels/engine/scalar.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    if (!ember_scalar_is_one(ember_scalar_arg(node, 2))) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_broadcast_prepare(node, state);
}

EMBER_NEON_MAP_F32_BROADCAST(add_f32_broadcast_neon, vaddq_f32);
