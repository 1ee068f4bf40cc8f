// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, float16. float32 weights are rounded.
#include "depthwise_neon.h"

static float32x4_t load(const void *from, size_t at) {
    return neon_load_f16((const uint16_t *)from + at);
}

static float32x4_t load_rounded(const void *from, size_t at) {
    return vcvt_f32_f16(vcvt_f16_f32(vld1q_f32((const float *)from + at)));
}

static void store(void *to, size_t at, float32x4_t numbers) {
    neon_store_f16((uint16_t *)to + at, numbers);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return depthwise_prepare(graph, node, &ember_xnn_type_f16);
}

XNN_INLINE void run_rounded(const ember_xnn_node_t *node, bool rounds, bool twice) {
    if (node->in[1]->datatype == XNN_F32) {
        depthwise_run(
            (access_t){load, load_rounded, store, xnn_neon_f16, rounds, twice}, node);
    } else {
        depthwise_run((access_t){load, load, store, xnn_neon_f16, rounds, twice}, node);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    if (xnn_by_halves(node)) {
        run_rounded(node, true, true);
    } else if (xnn_by_columns(node)) {
        run_rounded(node, true, false);
    } else {
        run_rounded(node, false, false);
    }
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, depthwise_conv_2d_f16_neon, NULL,
               ember_xnn_depthwise_shape, XNN_KIND(DEPTHWISE_CONV_2D));
