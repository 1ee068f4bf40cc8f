// SPDX-License-Identifier: Apache-2.0
// y = exp(x) / sum of exp(x) along one dimension, float32 or float16. Advanced SIMD,
// with the bits of softmax_f32, but for those of NaN; float16 is computed in float32,
// not in double. y may be x.
#include "kernels/reduction/softmax_lines_neon.h"

static void line(const float *x, float *y, uint32_t count) {
    const uint32_t whole = count & ~3u;
    const float top = neon_largest(x, count);
    const float scale = 1.0f / neon_powers(x, y, true, count, top);
    for (uint32_t i = 0; i < whole; i += 4) {
        vst1q_f32(y + i, vmulq_f32(vld1q_f32(y + i), vdupq_n_f32(scale)));
    }
    for (uint32_t i = whole; i < count; i++) {
        y[i] *= scale;
    }
}

static int32_t run(void *state) {
    neon_softmax_lines(state, line);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_softmax_lines_prepare(node, state);
}

EMBER_KERNEL(softmax_neon, ember_softmax_lines_t);
