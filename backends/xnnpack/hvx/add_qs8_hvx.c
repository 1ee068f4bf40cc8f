// SPDX-License-Identifier: Apache-2.0
// Sum and difference of static int8 values with HVX; add.h.
#include "backends/xnnpack/nodes/add.h"
#include "elements_hvx.h"

enum { WORDS = 4, FEW = 16 };

// 128 elements of a row, or one element repeated.
INLINE HVX_Vector load(const int8_t *from, uint32_t step, int32_t left) {
    return step == 0 ? Q6_Vb_vsplat_R(*from) : ember_load_left_hvx(from, left);
}

// Adds elements, which may be negative, times a factor of up to 22 bits.
INLINE void add(HVX_Vector bytes, HVX_Vector factor, HVX_Vector *sums) {
    HVX_Vector words[WORDS];
    ember_words_hvx(bytes, Q6_Vh_vsplat_R(INT8_MIN), words);
    EMBER_HVX_UNROLL
    for (int i = 0; i < WORDS; i++) {
        sums[i] = Q6_Vw_vadd_VwVw(sums[i], Q6_Vw_vmpyie_VwVuh(factor, words[i]));
    }
}

static void compute(const ember_xnn_add_t *add_of, const ember_xnn_lines_t *line) {
    const xnn_hvx_bounds_t bounds = xnn_hvx_bounds(&add_of->range);
    const HVX_Vector a = Q6_V_vsplat_R(add_of->a), b = Q6_V_vsplat_R(add_of->b);
    const uint32_t added = UINT32_C(128) * (uint32_t)(add_of->a + add_of->b);
    const HVX_Vector start = Q6_V_vsplat_R((int32_t)((uint32_t)add_of->bias - added));
    const int8_t *from_a = line->a, *from_b = line->b;
    int8_t *y = line->y;
    if (line->count < FEW) {
        ember_xnn_add_line(add_of, line);
        return;
    }
    for (int32_t left = (int32_t)line->count; left > 0; left -= EMBER_HVX) {
        HVX_Vector sums[WORDS] = {start, start, start, start};
        add(load(from_a, line->a_step, left), a, sums);
        add(load(from_b, line->b_step, left), b, sums);
        EMBER_HVX_UNROLL
        for (int i = 0; i < WORDS; i++) {
            sums[i] = Q6_Vw_vasr_VwR(sums[i], (int32_t)add_of->shift);
        }
        ember_store_left_hvx(y, xnn_hvx_bytes(sums, &bounds), left);
        from_a += line->a_step * EMBER_HVX;
        from_b += line->b_step * EMBER_HVX;
        y += EMBER_HVX;
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return xnn_lines_are_long(node, FEW) ? ember_xnn_add_prepare(graph, node)
                                         : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_add_run(node, compute);
}

XNN_KERNEL(add_qs8_hvx, NULL, ember_xnn_broadcast_shape,
           XNN_KIND(ADD) | XNN_KIND(SUBTRACT));
