// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else a times a number; float32 in one layout.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/scalar.h"

typedef struct leaky_relu {
    ember_map_f32_1_t map;
    float slope;
} leaky_relu_t;

static int32_t run(void *state) {
    const leaky_relu_t *s = state;
    for (uint32_t i = 0; i < s->map.count; i++) {
        const float a = s->map.a[i];
        s->map.y[i] = a > 0.0f ? a : a * s->slope;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    leaky_relu_t *s = state;
    const ember_status_t status = ember_map_f32_1_prepare(node, &s->map);
    if (status != EMBER_OK) {
        return status;
    }
    s->slope = ember_scalar_arg_f32(node, 1);
    return ember_node_status(node);
}

EMBER_KERNEL(leaky_relu_f32, leaky_relu_t);
