// SPDX-License-Identifier: Apache-2.0
// y = a / b, float16. Advanced SIMD.
#include "kernels/engine/neon/map_f16_neon.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f16_2_prepare(node, state);
}

EMBER_NEON_F16_KERNEL(div_f16_neon, vdivq_f32);
