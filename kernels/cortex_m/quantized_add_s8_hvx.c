// SPDX-License-Identifier: Apache-2.0
// quantized_add with HVX, 128 elements at a time, exactly as in the formula. Contract
// and formula: quantized_add_s8.h.
#include "kernels/cortex_m/quantized_add_s8.h"
#include "kernels/engine/hvx/scale_hvx.h"

enum { HEADROOM = 20, LEFT_MAX = 2 }; // operands have 9 bits
enum { FEW = 10 }; // elements of a row, for which portable C takes fewer packets

// How an operand becomes a sum: its words are shifted to the left, then scaled.
typedef struct operand {
    HVX_Vector zero;
    int32_t left;
    ember_factors_hvx_t by;
} operand_t;

static operand_t operand_of(int16_t zero, ember_requantize_t by) {
    const int32_t left = by.shift > 0 ? by.shift : 0;
    return (operand_t){Q6_Vh_vsplat_R(zero), HEADROOM + left,
                       ember_factors_hvx(Q6_V_vsplat_R(by.multiplier),
                                         Q6_V_vsplat_R(by.shift - left))};
}

INLINE void scale(const operand_t *by, HVX_Vector bytes, HVX_Vector *words) {
    ember_words_hvx(bytes, by->zero, words);
    EMBER_HVX_UNROLL
    for (int i = 0; i < 4; i++) {
        words[i] = ember_scaled_hvx(Q6_Vw_vasl_VwR(words[i], by->left), &by->by);
    }
}

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    const ember_add_s8_t *s = state;
    const operand_t by_a = operand_of(s->a_zero, s->a);
    const operand_t by_b = operand_of(s->b_zero, s->b);
    const operand_t by_y = operand_of(s->y_zero, s->y);
    const HVX_Vector zero = Q6_V_vsplat_R(s->y_zero);
    const HVX_Vector low = Q6_Vb_vsplat_R(s->limits.low);
    const HVX_Vector high = Q6_Vb_vsplat_R(s->limits.high);

    for (int32_t left = (int32_t)count; left > 0; left -= EMBER_HVX) {
        HVX_Vector first[4], second[4];
        scale(&by_a, ember_load_left_hvx(a, left), first);
        scale(&by_b, ember_load_left_hvx(b, left), second);
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) {
            const HVX_Vector sum = Q6_Vw_vadd_VwVw(first[i], second[i]);
            first[i] = Q6_Vw_vadd_VwVw(ember_scaled_hvx(sum, &by_y.by), zero);
        }
        const HVX_Vector bytes =
            ember_bytes_hvx(first[0], first[1], first[2], first[3]);
        ember_store_left_hvx(y, Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, low), high),
                             left);
        a += EMBER_HVX;
        b += EMBER_HVX;
        y += EMBER_HVX;
    }
}

static int32_t run(void *state) {
    const ember_add_s8_t *s = state;
    ember_pair_s8_run(&s->pair, row, s);
    return EMBER_OK;
}

static bool is_scale(ember_requantize_t by, int32_t most) {
    return by.shift >= EMBER_SHIFT_MIN_HVX && by.shift <= most;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_add_s8_t *s = state;
    const ember_status_t status = ember_add_s8_prepare(node, state);

    if (status == EMBER_OK && (!ember_pair_s8_dense(&s->pair) || s->pair.count < FEW ||
                               !is_scale(s->a, LEFT_MAX) || !is_scale(s->b, LEFT_MAX) ||
                               !is_scale(s->y, 0))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_add_hvx: steps");
    }
    return status;
}

EMBER_KERNEL(quantized_add_s8_hvx, ember_add_s8_t);
