// SPDX-License-Identifier: Apache-2.0
// y = gelu(a) with tanh, float32 in one layout.
#include "kernels/elementwise/gelu.h"
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

static int32_t run(void *state) {
    const ember_map_f32_1_t *s = state;
    for (uint32_t i = 0; i < s->count; i++) {
        s->y[i] = ember_gelu_tanhf(s->a[i]);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    if (!ember_gelu_is_tanh(node)) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_1_prepare(node, state);
}

EMBER_KERNEL(gelu_f32_tanh, ember_map_f32_1_t);
