// SPDX-License-Identifier: Apache-2.0
// y = a + b, float32 in one layout; alpha is 1. Helium.
#include "kernels/engine/mve/map_f32_mve.h"
#include "kernels/engine/scalar.h"

static float32x4_t combine(float32x4_t a, float32x4_t b) {
    return vaddq_f32(a, b);
}

static int32_t run(void *state) {
    return ember_mve_run_2(state, combine);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    if (!ember_scalar_is_one(ember_scalar_arg(node, 2))) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_2_prepare(node, state);
}

EMBER_KERNEL(add_f32_mve, ember_map_f32_2_t);
