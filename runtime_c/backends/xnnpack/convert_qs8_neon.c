// SPDX-License-Identifier: Apache-2.0
// From float32 to static int8.
#include "elements.h"
#include "neon.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return xnn_types(node, XNN_F32, XNN_QS8) ? ember_xnn_unary_prepare(graph, node)
                                             : EMBER_UNSUPPORTED;
}

// How four numbers are rounded. The lower bound is what becomes of NaN.
typedef struct quantizer {
    float32x4_t factor;
    float32x4_t low;
    float32x4_t high;
    int16x8_t zero;
} quantizer_t;

static inline int32x4_t round_four(const float *from, const quantizer_t *to) {
    const float32x4_t x = vmaxnmq_f32(vmulq_f32(vld1q_f32(from), to->factor), to->low);
    return vcvtnq_s32_f32(vminnmq_f32(x, to->high));
}

static inline int16x8_t round_eight(const float *from, const quantizer_t *to) {
    const int16x4_t low = vqmovn_s32(round_four(from, to));
    return vqaddq_s16(vqmovn_high_s32(low, round_four(from + 4, to)), to->zero);
}

static inline int8x16_t quantize(const float *from, const quantizer_t *to) {
    const int8x8_t low = vqmovn_s16(round_eight(from, to));
    return vqmovn_high_s16(low, round_eight(from + 8, to));
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *out = node->out[0];
    const float *from = node->in[0]->constant;
    int8_t *to = out->data;
    ember_xnn_range_t range;
    (void)ember_xnn_range(node, &range);
    const quantizer_t how = {
        .factor = vdupq_n_f32(1.0f / out->scale),
        .low = vdupq_n_f32(range.low),
        .high = vdupq_n_f32(range.high),
        .zero = vdupq_n_s16((int16_t)range.zero),
    };
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
