// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else 0, float32 in one layout; NaN stays. Four elements
// at a time, for Cortex-M.
#include <arm_fpu.h>

#include "kernels/elementwise/relu_f32.h"
#include "kernels/engine/map_f32.h"

static int32_t run(void *state) {
    const ember_map_f32_1_t *s = state;
    ember_fpu_relu(s->y, s->a, (int32_t)s->count, EMBER_RELU_ZERO_UNTIL);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_1_prepare(node, state);
}

EMBER_KERNEL(relu_f32_fpu, ember_map_f32_1_t);
