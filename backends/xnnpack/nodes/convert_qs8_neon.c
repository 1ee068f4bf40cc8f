// SPDX-License-Identifier: Apache-2.0
// From float32 to static int8.
#include "elements.h"
#include "neon.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return xnn_types(node, XNN_F32, XNN_QS8) ? ember_xnn_unary_prepare(graph, node)
                                             : EMBER_UNSUPPORTED;
}

static inline int8x16_t quantize(const float *from, const xnn_neon_quantizer_t *to) {
    const float32x4_t x[] = {vld1q_f32(from), vld1q_f32(from + 4), vld1q_f32(from + 8),
                             vld1q_f32(from + 12)};
    return xnn_neon_quantize(x, to);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *out = node->out[0];
    const float *from = node->in[0]->constant;
    int8_t *to = out->data;
    ember_xnn_range_t range;
    (void)ember_xnn_range(node, &range);
    const xnn_neon_quantizer_t how = xnn_neon_quantizer(1.0f / out->scale, &range);
    uint32_t left = out->numel;
    for (; left >= 16; left -= 16, from += 16, to += 16) {
        vst1q_s8(to, quantize(from, &how));
    }
    if (left > 0) {
        float rest[16] = {0.0f};
        memcpy(rest, from, 4 * left);
        const int8x16_t made = quantize(rest, &how);
        memcpy(to, &made, left);
    }
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, convert_qs8_neon, NULL, ember_xnn_shape_same,
               XNN_KIND(CONVERT));
