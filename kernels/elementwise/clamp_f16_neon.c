// SPDX-License-Identifier: Apache-2.0
// y = a within two numbers, float16 in one layout (hardtanh, relu6). Advanced SIMD.
#include "kernels/elementwise/clamp_f32.h"
#include "kernels/engine/neon/fours_neon.h"

typedef struct clamp {
    ember_map_float_1_t map;
    float low; // <= high
    float high;
} clamp_t;

EMBER_NEON_INLINE float32x4_t same(float32x4_t x) {
    return x;
}

static void compute(const ember_neon_fours_t *fours) {
    neon_one(fours, same);
}

static int32_t run(void *state) {
    const clamp_t *s = state;
    const ember_neon_fours_t line = {
        .y = s->map.y,
        .a = s->map.a,
        .b = s->map.a,
        .count = s->map.count,
        .a_step = 1,
        .b_step = 1,
        .half = true,
        .low = s->low,
        .high = s->high,
    };
    ember_neon_line(&line, compute);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    clamp_t *s = state;
    if (ember_clamp_of_tensors(node)) {
        return EMBER_UNSUPPORTED;
    }
    const ember_status_t status = ember_map_float_1_prepare(node, &s->map);
    if (status != EMBER_OK || !s->map.half) {
        return status != EMBER_OK ? status : EMBER_UNSUPPORTED;
    }
    return ember_clamp_bounds(node, &s->low, &s->high);
}

EMBER_KERNEL(clamp_f16_neon, clamp_t);
