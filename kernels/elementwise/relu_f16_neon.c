// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else 0, float16 in one layout; NaN stays. Advanced SIMD.
#include "kernels/engine/neon/map_neon.h"

EMBER_NEON_INLINE float32x4_t relu(float32x4_t x) {
    return vmaxq_f32(x, vdupq_n_f32(0.0f));
}

static void compute(const ember_neon_fours_t *fours) {
    neon_one(fours, relu);
}

static int32_t run(void *state) {
    return ember_neon_map_run(state, compute);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_map_float_1_t *map = state;
    const ember_status_t status = ember_map_float_1_prepare(node, state);
    return status == EMBER_OK && !map->half ? EMBER_UNSUPPORTED : status;
}

EMBER_KERNEL(relu_f16_neon, ember_map_float_1_t);
