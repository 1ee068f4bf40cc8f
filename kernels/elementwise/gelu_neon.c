// SPDX-License-Identifier: Apache-2.0
// y = gelu(a), exact or with tanh, float32 or float16 in one layout. Advanced SIMD.
#include "kernels/elementwise/gelu.h"
#include "kernels/engine/neon/map_neon.h"

typedef struct gelu {
    ember_map_float_1_t map;
    bool by_tanh;
} gelu_t;

static void compute_exact(const ember_neon_fours_t *fours) {
    neon_one(fours, neon_gelu);
}

static void compute_tanh(const ember_neon_fours_t *fours) {
    neon_one(fours, neon_gelu_tanh);
}

static int32_t run(void *state) {
    const gelu_t *s = state;
    return ember_neon_map_run(&s->map, s->by_tanh ? compute_tanh : compute_exact);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    gelu_t *s = state;
    s->by_tanh = ember_gelu_is_tanh(node);
    return ember_map_float_1_prepare(node, &s->map);
}

EMBER_KERNEL(gelu_neon, gelu_t);
