// SPDX-License-Identifier: Apache-2.0
// quantized_add with the DSP extension, four elements at a time. Contract and formula:
// quantized_add_s8.h.
//
// If a byte in the upper part of a halfword is multiplied by a factor << 8, the upper
// word of the product is the byte times the factor: SMLAW adds that to the estimate.
#include "kernels/cortex_m/quantized_add_s8.h"
#include "kernels/engine/dsp/bytes_dsp.h"

enum {
    POINT = EMBER_ADD_BITS - 16
}; // bits of the fraction in an estimate's upper half
#define UPPER 0xff00ff00u // bytes of halfwords

static void few(const ember_add_s8_t *s, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        y[i] = ember_add_s8_exact(s, *a, *b);
        a += s->pair.a.step;
        b += s->pair.b.step;
    }
}

// The bytes of two pairs of halves, whose last POINT bits are a fraction.
static uint32_t joined(int16x2_t even, int16x2_t odd) {
    const uint32_t low = (uint32_t)ember_halves_cut_12(even);
    const uint32_t high = (uint32_t)ember_halves_cut_12(odd);
    return ((low >> POINT) & ~UPPER) | ((high << (8 - POINT)) & UPPER);
}

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    const ember_add_s8_t *s = state;
    const int32_t a_factor = s->a_factor * 256;
    const int32_t b_factor = s->b_factor * 256;
    const int32_t offset = s->offset;
    const uint32_t doubt = s->doubt;
    const uint32_t least = ember_word_of(s->limits.low);
    const uint32_t most = ember_word_of(s->limits.high);

    for (; count >= 4; count -= 4, a += 4, b += 4, y += 4) {
        const uint32_t a4 = ember_word_load(a);
        const uint32_t b4 = ember_word_load(b);
        const int32_t even_a = (int32_t)((a4 << 8) & UPPER);
        const int32_t even_b = (int32_t)((b4 << 8) & UPPER);
        const int32_t odd_a = (int32_t)(a4 & UPPER);
        const int32_t odd_b = (int32_t)(b4 & UPPER);
        const int32_t e0 =
            __smlawb(b_factor, even_b, __smlawb(a_factor, even_a, offset));
        const int32_t e1 = __smlawb(b_factor, odd_b, __smlawb(a_factor, odd_a, offset));
        const int32_t e2 =
            __smlawt(b_factor, even_b, __smlawt(a_factor, even_a, offset));
        const int32_t e3 = __smlawt(b_factor, odd_b, __smlawt(a_factor, odd_a, offset));
        if (ember_add_s8_fraction(e0) < doubt || ember_add_s8_fraction(e1) < doubt ||
            ember_add_s8_fraction(e2) < doubt || ember_add_s8_fraction(e3) < doubt) {
            few(s, a, b, y, 4);
            continue;
        }
        const uint32_t word = joined(ember_word_tops(e0, e2), ember_word_tops(e1, e3));
        ember_word_store(y, ember_word_min(ember_word_max(word, least), most));
    }
    few(s, a, b, y, count);
}

static int32_t run(void *state) {
    const ember_add_s8_t *s = state;
    ember_pair_s8_run(&s->pair, row, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_add_s8_t *s = state;
    const ember_status_t status = ember_add_s8_prepare(node, state);

    if (status == EMBER_OK && !ember_pair_s8_dense(&s->pair)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_add_dsp: steps");
    }
    return status;
}

EMBER_KERNEL(quantized_add_s8_dsp, ember_add_s8_t);
