// SPDX-License-Identifier: Apache-2.0
// Softmax along the innermost dimension, four values at a time; sums in the order of
// the portable kernel.
#include "kernels/engine/neon/mathf_neon.h"
#include "softmax.h"

// A NaN makes the whole row NaN, whatever its maximum is.
static float32x4_t largest(const float *x, uint32_t count) {
    float32x4_t most = vld1q_f32(x);
    for (uint32_t i = 4; i < count; i += 4) {
        most = vmaxq_f32(most, vld1q_f32(x + i));
    }
    return vdupq_n_f32(vmaxvq_f32(most));
}

static float powers(float *x, uint32_t count, float32x4_t top) {
    for (uint32_t i = 0; i < count; i += 4) {
        vst1q_f32(x + i, neon_exp(vsubq_f32(vld1q_f32(x + i), top)));
    }
    float sum = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        sum += x[i];
    }
    return sum;
}

static void compute(float *x, uint32_t count) {
    for (uint32_t i = count; i % 4 != 0; i++) {
        x[i] = x[0];
    }
    const float32x4_t part = vdupq_n_f32(1.0f / powers(x, count, largest(x, count)));
    for (uint32_t i = 0; i < count; i += 4) {
        vst1q_f32(x + i, vmulq_f32(vld1q_f32(x + i), part));
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_softmax_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_softmax_run(graph, node, compute);
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, softmax_neon, NULL, ember_xnn_softmax_shape,
               XNN_KIND(SOFTMAX));
