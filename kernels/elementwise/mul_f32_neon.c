// SPDX-License-Identifier: Apache-2.0
// y = a b, float32 in one layout. Advanced SIMD.
#include "kernels/engine/neon/map_f32_neon.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_2_prepare(node, state);
}

EMBER_NEON_MAP_F32_2(mul_f32_neon, vmulq_f32);
