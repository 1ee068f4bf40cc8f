// SPDX-License-Identifier: Apache-2.0
// y = a b, float32 in one layout. Four elements at a time, for Cortex-M.
#include <arm_fpu.h>

#include "kernels/engine/map_f32.h"

static int32_t run(void *state) {
    const ember_map_f32_2_t *s = state;
    ember_fpu_mul(s->y, s->a, s->b, (int32_t)s->count);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_2_prepare(node, state);
}

EMBER_KERNEL(mul_f32_fpu, ember_map_f32_2_t);
