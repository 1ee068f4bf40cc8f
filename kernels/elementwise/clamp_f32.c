// SPDX-License-Identifier: Apache-2.0
// y = a within two numbers, float32 in one layout (hardtanh, relu6).
#include "kernels/elementwise/clamp_f32.h"
#include "kernels/engine/mathf.h"
#include "kernels/engine/scalar.h"

static int32_t run(void *state) {
    const ember_clamp_f32_t *s = state;
    for (uint32_t i = 0; i < s->map.count; i++) {
        const float a = s->map.a[i];
        // NaN stays, and must not be near a plain minimum or maximum, for which
        // LLVM takes Hexagon's instruction that drops it.
        s->map.y[i] = a >= s->low ? (a <= s->high ? a : s->high) : a == a ? s->low : a;
    }
    return EMBER_OK;
}

static float bound(ember_node_t *node, uint32_t arg, float when_none) {
    return ember_node_kind(node, arg) == EMBER_NONE ? when_none
                                                    : ember_scalar_arg_f32(node, arg);
}

ember_status_t ember_clamp_f32_prepare(ember_node_t *node, void *state) {
    ember_clamp_f32_t *s = state;
    if (ember_node_kind(node, 1) == EMBER_TENSOR ||
        ember_node_kind(node, 2) == EMBER_TENSOR) {
        return EMBER_UNSUPPORTED;
    }
    const ember_status_t status = ember_map_f32_1_prepare(node, &s->map);
    if (status != EMBER_OK) {
        return status;
    }
    s->low = bound(node, 1, -EMBER_INF);
    s->high = bound(node, 2, EMBER_INF);
    return s->low <= s->high ? ember_node_status(node)
                             : EMBER_UNSUPPORTED; // crossed, or NaN
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_clamp_f32_prepare(node, state);
}

EMBER_KERNEL(clamp_f32, ember_clamp_f32_t);
