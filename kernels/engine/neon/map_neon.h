// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels of one float32 or float16 tensor with NEON. Results are the
// portable kernels' bit for bit, except the bits of NaN.
#ifndef EMBER_KERNELS_ENGINE_NEON_MAP_NEON_H
#define EMBER_KERNELS_ENGINE_NEON_MAP_NEON_H

#include "kernels/engine/map_f32.h"
#include "kernels/engine/neon/mathf_neon.h"

static inline int32_t ember_neon_map_run(const ember_map_float_1_t *s,
                                         ember_neon_fours_fn compute) {
    const ember_neon_fours_t line = {
        .y = s->y,
        .a = s->a,
        .b = s->a,
        .count = s->count,
        .a_step = 1,
        .b_step = 1,
        .half = s->half,
        .low = -EMBER_INF,
        .high = EMBER_INF,
    };
    ember_neon_line(&line, compute);
    return EMBER_OK;
}

// A whole kernel of a function of four floats.
#define EMBER_NEON_MAP_KERNEL(NAME, FUNCTION)                                          \
    static void compute(const ember_neon_fours_t *fours) {                             \
        neon_one(fours, FUNCTION);                                                     \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        return ember_neon_map_run(state, compute);                                     \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_map_float_1_prepare(node, state);                                 \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_map_float_1_t)

#endif // EMBER_KERNELS_ENGINE_NEON_MAP_NEON_H
