// SPDX-License-Identifier: Apache-2.0
// y = a - b, float32 in one layout; alpha is 1. Four elements at a time, for Cortex-M.
#include <arm_fpu.h>

#include "kernels/engine/map_f32.h"
#include "kernels/engine/scalar.h"

static int32_t run(void *state) {
    const ember_map_f32_2_t *s = state;
    ember_fpu_sub(s->y, s->a, s->b, (int32_t)s->count);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    if (!ember_scalar_is_one(ember_scalar_arg(node, 2))) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_2_prepare(node, state);
}

EMBER_KERNEL(sub_f32_fpu, ember_map_f32_2_t);
