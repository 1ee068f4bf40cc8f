// SPDX-License-Identifier: Apache-2.0
// y = a + b, float16; alpha is 1. Advanced SIMD.
#include "kernels/engine/neon/map_f16_neon.h"
#include "kernels/engine/scalar.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    if (!ember_scalar_is_one(ember_scalar_arg(node, 2))) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f16_2_prepare(node, state);
}

EMBER_NEON_F16_KERNEL(add_f16_neon, vaddq_f32);
