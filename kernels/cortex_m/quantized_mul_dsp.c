// SPDX-License-Identifier: Apache-2.0
// quantized_mul with the DSP extension, four elements at a time, both roundings exact.
// Contract and formula: quantized_mul.h.
#include "kernels/cortex_m/quantized_mul.h"
#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4 };

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    const ember_mul_s8_t *s = state;
    const uint32_t a_offset = ember_both_dsp(-s->a_zero);
    const uint32_t b_offset = ember_both_dsp(-s->b_zero);
    const ember_scale_dsp_t by =
        ember_scale_dsp(s->y.multiplier, s->y.shift, s->y_zero);

    for (; count >= FOUR; count -= FOUR) {
        const uint32_t a4 = ember_word_dsp(a), b4 = ember_word_dsp(b);
        const uint32_t a_even = ember_sxtab16(a_offset, a4);
        const uint32_t a_odd = ember_sxtab16_odd(a_offset, a4);
        const uint32_t b_even = ember_sxtab16(b_offset, b4);
        const uint32_t b_odd = ember_sxtab16_odd(b_offset, b4);
        y[0] = (int8_t)ember_scaled_dsp(ember_smulbb(a_even, b_even), by);
        y[1] = (int8_t)ember_scaled_dsp(ember_smulbb(a_odd, b_odd), by);
        y[2] = (int8_t)ember_scaled_dsp(ember_smultt(a_even, b_even), by);
        y[3] = (int8_t)ember_scaled_dsp(ember_smultt(a_odd, b_odd), by);
        a += FOUR;
        b += FOUR;
        y += FOUR;
    }
    for (; count > 0; count--) {
        const int32_t product = (*a++ - s->a_zero) * (*b++ - s->b_zero);
        *y++ = (int8_t)ember_scaled_dsp(product, by);
    }
}

static int32_t run(void *state) {
    const ember_mul_s8_t *s = state;
    ember_pair_s8_run(&s->pair, row, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_mul_s8_dense_prepare(node, state);
}

EMBER_KERNEL(quantized_mul_dsp, ember_mul_s8_t);
