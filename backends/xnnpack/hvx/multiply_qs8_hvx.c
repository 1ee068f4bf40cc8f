// SPDX-License-Identifier: Apache-2.0
// Product of static int8 values with HVX; multiply.h.
#include "backends/xnnpack/nodes/multiply.h"
#include "elements_hvx.h"

enum { WORDS = 4, FEW = 16 };

// 128 elements of a row, or one element repeated, minus the zero point.
INLINE void load(const int8_t *from, uint32_t step, int32_t left, HVX_Vector zero,
                 HVX_Vector *words) {
    const HVX_Vector bytes =
        step == 0 ? Q6_Vb_vsplat_R(*from) : ember_load_left_hvx(from, left);
    ember_words_hvx(bytes, zero, words);
}

// The instruction takes the low half of b as unsigned.
INLINE HVX_Vector product_of(HVX_Vector a, HVX_Vector b) {
    const HVX_Vector sign = Q6_Vw_vasr_VwR(b, 31);
    const HVX_Vector size = ember_signed_hvx(b, sign);
    return ember_signed_hvx(Q6_Vw_vmpyie_VwVuh(a, size), sign);
}

static void compute(const ember_xnn_multiply_t *multiply,
                    const ember_xnn_lines_t *line) {
    const ember_xnn_node_t *node = multiply->node;
    const xnn_hvx_bounds_t bounds = xnn_hvx_bounds(&multiply->range);
    const xnn_hvx_scales_t by =
        xnn_hvx_scales(Q6_V_vsplat_R((int32_t)ember_float_bits(multiply->scale)));
    const HVX_Vector zero_a = Q6_Vh_vsplat_R(node->in[0]->zero);
    const HVX_Vector zero_b = Q6_Vh_vsplat_R(node->in[1]->zero);
    const int8_t *from_a = line->a, *from_b = line->b;
    int8_t *y = line->y;
    if (line->count < FEW) {
        ember_xnn_multiply_line(multiply, line);
        return;
    }
    for (int32_t left = (int32_t)line->count; left > 0; left -= EMBER_HVX) {
        HVX_Vector a[WORDS], b[WORDS];
        load(from_a, line->a_step, left, zero_a, a);
        load(from_b, line->b_step, left, zero_b, b);
        EMBER_HVX_UNROLL
        for (int i = 0; i < WORDS; i++) {
            a[i] = xnn_hvx_scaled(product_of(a[i], b[i]), &by);
        }
        ember_store_left_hvx(y, xnn_hvx_bytes(a, &bounds), left);
        from_a += line->a_step * EMBER_HVX;
        from_b += line->b_step * EMBER_HVX;
        y += EMBER_HVX;
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_status_t status = ember_xnn_multiply_prepare(graph, node);
    if (!xnn_lines_are_long(node, FEW)) {
        return EMBER_UNSUPPORTED;
    }
    return status == EMBER_OK && !xnn_hvx_is_scale(ember_xnn_multiply_scale(node))
               ? xnn_refuse(node, XNN_ODD_SCALES)
               : status;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_multiply_run(node, compute);
}

XNN_KERNEL(multiply_qs8_hvx, NULL, ember_xnn_broadcast_shape, XNN_KIND(MULTIPLY));
