// SPDX-License-Identifier: Apache-2.0
// y = exp(x) / sum of exp(x) along the innermost dimension, float32. Advanced SIMD,
// with the bits of softmax_f32, but for those of NaN. y may be x.
#include "kernels/engine/axis.h"
#include "kernels/engine/mathf_neon.h"

// With NaN in a line all of it becomes NaN, whatever this is.
static float largest(const float *x, uint32_t whole, uint32_t count) {
    float32x4_t most = vdupq_n_f32(-EMBER_INF);
    for (uint32_t i = 0; i < whole; i += 4) {
        most = vmaxq_f32(most, vld1q_f32(x + i));
    }
    float top = vmaxvq_f32(most);
    for (uint32_t i = whole; i < count; i++) {
        top = x[i] > top ? x[i] : top;
    }
    return top;
}

// Their sum is in the order of elements.
static float powers(const float *x, float *y, uint32_t whole, uint32_t count,
                    float top) {
    const float32x4_t tops = vdupq_n_f32(top);
    float sum = 0.0f;
    for (uint32_t i = 0; i < whole; i += 4) {
        vst1q_f32(y + i, neon_exp(vsubq_f32(vld1q_f32(x + i), tops)));
        for (uint32_t lane = 0; lane < 4; lane++) {
            sum += y[i + lane];
        }
    }
    for (uint32_t i = whole; i < count; i++) {
        y[i] = ember_expf(x[i] - top);
        sum += y[i];
    }
    return sum;
}

static void line(const float *x, float *y, uint32_t count) {
    const uint32_t whole = count & ~3u;
    const float top = largest(x, whole, count);
    const float scale = 1.0f / powers(x, y, whole, count, top);
    for (uint32_t i = 0; i < whole; i += 4) {
        vst1q_f32(y + i, vmulq_f32(vld1q_f32(y + i), vdupq_n_f32(scale)));
    }
    for (uint32_t i = whole; i < count; i++) {
        y[i] *= scale;
    }
}

static int32_t run(void *state) {
    const ember_axis_t *s = state;
    for (uint32_t o = 0; o < s->outer; o++) {
        const size_t at = (size_t)o * s->count;
        line((const float *)(const void *)s->x + at, (float *)(void *)s->y + at,
             s->count);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_axis_t *s = state;
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    const ember_status_t status =
        ember_axis_prepare_f32(node, s, ember_node_dim(node, 1, x.rank), 3);
    return status == EMBER_OK && s->inner != 1 ? EMBER_UNSUPPORTED : status;
}

EMBER_KERNEL(softmax_f32_neon, ember_axis_t);
