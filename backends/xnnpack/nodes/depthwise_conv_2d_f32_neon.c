// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, float32.
#include "depthwise_neon.h"

static float32x4_t load(const void *from, size_t at) {
    return vld1q_f32((const float *)from + at);
}

static void store(void *to, size_t at, float32x4_t numbers) {
    vst1q_f32((float *)to + at, numbers);
}

static float32x4_t bias_of(const ember_xnn_value_t *bias, size_t channel) {
    return load(bias->constant, channel);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return depthwise_prepare(graph, node, &ember_xnn_type_f32);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    depthwise_run((access_t){load, load, store, bias_of, false, false}, node);
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, depthwise_conv_2d_f32_neon, NULL,
               ember_xnn_depthwise_shape, XNN_KIND(DEPTHWISE_CONV_2D));
