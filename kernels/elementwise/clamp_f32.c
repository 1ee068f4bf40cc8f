// SPDX-License-Identifier: Apache-2.0
// y = a within two numbers, float32 in one layout (hardtanh, relu6).
#include "kernels/elementwise/clamp_f32.h"
#include "kernels/engine/mathf.h"
#include "kernels/engine/scalar.h"

static int32_t run(void *state) {
    const ember_clamp_f32_t *s = state;
    for (uint32_t i = 0; i < s->map.count; i++) {
        const float a = s->map.a[i];
        // NaN stays NaN. A plain minimum or maximum would let LLVM use Hexagon's
        // instruction that drops NaN.
        s->map.y[i] = a >= s->low ? (a <= s->high ? a : s->high) : a == a ? s->low : a;
    }
    return EMBER_OK;
}

static float bound(ember_node_t *node, uint32_t arg, float when_none) {
    return ember_node_kind(node, arg) == EMBER_NONE ? when_none
                                                    : ember_scalar_arg_f32(node, arg);
}

bool ember_clamp_of_tensors(ember_node_t *node) {
    return ember_node_kind(node, 1) == EMBER_TENSOR ||
           ember_node_kind(node, 2) == EMBER_TENSOR;
}

ember_status_t ember_clamp_bounds(ember_node_t *node, float *low, float *high) {
    *low = bound(node, 1, -EMBER_INF);
    *high = bound(node, 2, EMBER_INF);
    return *low <= *high ? ember_node_status(node)
                         : EMBER_UNSUPPORTED; // crossed, or NaN
}

ember_status_t ember_clamp_f32_prepare(ember_node_t *node, void *state) {
    ember_clamp_f32_t *s = state;
    if (ember_clamp_of_tensors(node)) {
        return EMBER_UNSUPPORTED;
    }
    const ember_status_t status = ember_map_f32_1_prepare(node, &s->map);
    return status != EMBER_OK ? status : ember_clamp_bounds(node, &s->low, &s->high);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_clamp_f32_prepare(node, state);
}

EMBER_KERNEL(clamp_f32, ember_clamp_f32_t);
