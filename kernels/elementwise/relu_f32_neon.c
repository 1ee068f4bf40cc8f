// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else 0, float32 in one layout; NaN stays. Advanced SIMD.
#include "kernels/engine/neon/map_f32_neon.h"

static float32x4_t relu(float32x4_t x) {
    return vmaxq_f32(x, vdupq_n_f32(0.0f));
}

static int32_t run(void *state) {
    const ember_map_f32_1_t *s = state;
    neon_map_1(s->y, s->a, s->count, relu);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_1_prepare(node, state);
}

EMBER_KERNEL(relu_f32_neon, ember_map_f32_1_t);
