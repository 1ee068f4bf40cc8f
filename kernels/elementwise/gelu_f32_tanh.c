// SPDX-License-Identifier: Apache-2.0
// y = gelu(a) by tanh, float32 in one layout.
#include <string.h>

#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

// True when the `approximate` argument says tanh.
static bool is_tanh(ember_node_t *node) {
    uint32_t length;
    const char *text = ember_node_string(node, 1, &length);
    return length == 4 && memcmp(text, "tanh", 4) == 0;
}

static int32_t run(void *state) {
    const ember_map_f32_1_t *s = state;
    for (uint32_t i = 0; i < s->count; i++) {
        s->y[i] = ember_gelu_tanhf(s->a[i]);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    if (!is_tanh(node)) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_1_prepare(node, state);
}

EMBER_KERNEL(gelu_f32_tanh, ember_map_f32_1_t);
