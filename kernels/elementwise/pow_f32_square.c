// SPDX-License-Identifier: Apache-2.0
// y = a^2, float32 in one layout: the most common power.
#include "kernels/engine/map_f32.h"

static int32_t run(void *state) {
    const ember_map_f32_1_t *s = state;
    for (uint32_t i = 0; i < s->count; i++) {
        s->y[i] = s->a[i] * s->a[i];
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    if (ember_node_kind(node, 1) == EMBER_TENSOR || ember_node_double(node, 1) != 2.0) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_1_prepare(node, state);
}

EMBER_KERNEL(pow_f32_square, ember_map_f32_1_t);
