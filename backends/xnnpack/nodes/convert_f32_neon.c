// SPDX-License-Identifier: Apache-2.0
// From static int8 to float32.
#include "elements.h"
#include "neon.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return xnn_types(node, XNN_QS8, XNN_F32) && xnn_is_open(node)
               ? ember_xnn_unary_prepare(graph, node)
               : EMBER_UNSUPPORTED;
}

static inline void four(int16x4_t x, float32x4_t scale, float *to) {
    vst1q_f32(to, vmulq_f32(vcvtq_f32_s32(vmovl_s16(x)), scale));
}

static inline void sixteen(int8x16_t x, int8x8_t zero, float32x4_t scale, float *to) {
    const int16x8_t low = vsubl_s8(vget_low_s8(x), zero);
    const int16x8_t high = vsubl_s8(vget_high_s8(x), zero);
    four(vget_low_s16(low), scale, to);
    four(vget_high_s16(low), scale, to + 4);
    four(vget_low_s16(high), scale, to + 8);
    four(vget_high_s16(high), scale, to + 12);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *in = node->in[0];
    const int8x8_t zero = vdup_n_s8((int8_t)in->zero);
    const float32x4_t scale = vdupq_n_f32(in->scale);
    const int8_t *from = in->constant;
    float *to = node->out[0]->data;
    uint32_t left = in->numel;
    for (; left >= 16; left -= 16, from += 16, to += 16) {
        sixteen(vld1q_s8(from), zero, scale, to);
    }
    if (left > 0) {
        int8_t rest[16] = {0};
        float made[16];
        memcpy(rest, from, left);
        sixteen(vld1q_s8(rest), zero, scale, made);
        memcpy(to, made, 4 * (size_t)left);
    }
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, convert_f32_neon, NULL, ember_xnn_shape_same,
               XNN_KIND(CONVERT));
