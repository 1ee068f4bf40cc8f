// SPDX-License-Identifier: Apache-2.0
// y = x - log of the sum of exp(x) along one dimension, float32 or float16. Advanced
// SIMD, with the bits of log_softmax_f32, but for those of NaN; float16 is computed in
// float32, not in double. y may be x.
#include "kernels/reduction/softmax_lines_neon.h"

static void line(const float *x, float *y, uint32_t count) {
    const uint32_t whole = count & ~3u;
    const float top = neon_largest(x, count);
    const float scale = ember_logf(neon_powers(x, NULL, false, count, top));
    for (uint32_t i = 0; i < whole; i += 4) {
        const float32x4_t below = vsubq_f32(vld1q_f32(x + i), vdupq_n_f32(top));
        vst1q_f32(y + i, vsubq_f32(below, vdupq_n_f32(scale)));
    }
    for (uint32_t i = whole; i < count; i++) {
        y[i] = x[i] - top - scale;
    }
}

static int32_t run(void *state) {
    neon_softmax_lines(state, line);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_softmax_lines_prepare(node, state);
}

EMBER_KERNEL(log_softmax_neon, ember_softmax_lines_t);
