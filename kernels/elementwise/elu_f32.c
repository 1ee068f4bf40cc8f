// SPDX-License-Identifier: Apache-2.0
// y = c a where a is positive, else c b (exp(d a) - 1); float32 in one layout.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"
#include "kernels/engine/scalar.h"

typedef struct elu {
    ember_map_f32_1_t map;
    float positive; // c
    float negative; // b c
    float inner;    // d
} elu_t;

static int32_t run(void *state) {
    const elu_t *s = state;
    for (uint32_t i = 0; i < s->map.count; i++) {
        const float a = s->map.a[i];
        s->map.y[i] =
            a > 0.0f ? a * s->positive : ember_expm1f(a * s->inner) * s->negative;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    elu_t *s = state;
    const ember_status_t status = ember_map_f32_1_prepare(node, &s->map);
    if (status != EMBER_OK) {
        return status;
    }
    s->positive = ember_scalar_arg_f32(node, 2);
    s->negative = ember_scalar_arg_f32(node, 1) * s->positive;
    s->inner = ember_scalar_arg_f32(node, 3);
    return ember_node_status(node);
}

EMBER_KERNEL(elu_f32, elu_t);
