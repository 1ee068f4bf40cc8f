// SPDX-License-Identifier: Apache-2.0
// Bounds of static int8 with unchanged scale and zero point: those of its elements.
#include "elements.h"
#include "neon.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return xnn_neon_same_numbers(node) ? ember_xnn_unary_prepare(graph, node)
                                       : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const int8_t *from = node->in[0]->constant;
    int8_t *to = node->out[0]->data;
    int8_t ends[] = {INT8_MIN, INT8_MAX}; // become the bounds
    float numbers[2];
    ember_xnn_load(node->in[0], ends, 1, 2, numbers);
    ember_xnn_store(node, ends, 2, numbers);
    const int8x16_t low = vdupq_n_s8(ends[0]), high = vdupq_n_s8(ends[1]);
    uint32_t left = node->out[0]->numel;
    for (; left >= 16; left -= 16, from += 16, to += 16) {
        vst1q_s8(to, vminq_s8(vmaxq_s8(vld1q_s8(from), low), high));
    }
    for (; left > 0; left--, from++, to++) {
        const int8_t x = *from > ends[0] ? *from : ends[0];
        *to = x < ends[1] ? x : ends[1];
    }
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, clamp_qs8_neon, NULL, ember_xnn_shape_same,
               XNN_KIND(CLAMP));
