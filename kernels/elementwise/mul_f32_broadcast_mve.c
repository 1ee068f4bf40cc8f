// SPDX-License-Identifier: Apache-2.0
// y = a b, float32, one operand repeated along the other. Helium.
#include "kernels/engine/mve/map_f32_mve.h"

static float32x4_t combine(float32x4_t a, float32x4_t b) {
    return vmulq_f32(a, b);
}

static void row(float *y, const float *a, uint32_t a_step, const float *b,
                uint32_t b_step, uint32_t count) {
    ember_mve_row(y, a, a_step, b, b_step, count, combine);
}

static int32_t run(void *state) {
    ember_map_f32_broadcast_run(state, row);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_broadcast_prepare(node, state);
}

EMBER_KERNEL(mul_f32_broadcast_mve, ember_map_f32_broadcast_t);
