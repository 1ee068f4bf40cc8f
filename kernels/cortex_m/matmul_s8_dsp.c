// SPDX-License-Identifier: Apache-2.0
// The dialect's linear and batch_matmul with the DSP instructions. Contract:
// matmul_s8_dsp.h.
#include "kernels/cortex_m/matmul_s8_dsp.h"

#include <stddef.h>

#include "kernels/cortex_m/products_dsp.h"

enum { FOUR = 4, EIGHT = 8, ROWS = 2, MOST = 1 << 14 }; // elements of a row

// A row of a becomes words.
static void widen(const ember_matmul_s8_dsp_t *dsp, const int8_t *a) {
    const ember_matmul_s8_t *s = &dsp->matmul;
    const uint32_t offset = ember_both_dsp(s->a_offset);
    const int32_t rest = s->inner % FOUR;
    uint32_t *to = dsp->words;

    for (int32_t left = s->inner / FOUR; left > 0; left--) {
        const uint32_t word = ember_word_dsp(a);
        to[0] = ember_sxtab16(offset, word);
        to[1] = ember_sxtab16_odd(offset, word);
        a += FOUR;
        to += 2;
    }
    if (rest > 0) {
        const uint32_t word = ember_part_dsp(a, rest);
        to[0] = ember_sxtab16(offset, word);
        to[1] = ember_sxtab16_odd(offset, word);
    }
}

// Adds the products with one row of b, which may lie anywhere.
static __attribute__((noinline)) int32_t sum_row(const ember_matmul_s8_dsp_t *dsp,
                                                 const int8_t *b, int32_t sum) {
    const uint32_t *a = dsp->words;
    int32_t left = dsp->matmul.inner;

    for (; left >= FOUR; left -= FOUR) {
        sum = ember_add_four(sum, ember_ldr_next(&b), a[0], a[1]);
        a += 2;
    }
    return left == 0 ? sum : ember_add_four(sum, ember_part_dsp(b, left), a[0], a[1]);
}

typedef struct {
    int32_t a, b;
} sums_t;

// Adds the products with two rows of b, which start at multiples of four.
INLINE sums_t sum_two(const ember_matmul_s8_dsp_t *dsp, const int8_t *b, sums_t sums) {
    const int32_t inner = dsp->matmul.inner;
    const int8_t *b0 = b, *b1 = b + inner, *end = b + (inner & -EIGHT);
    const uint32_t *a = dsp->words;

    while (b0 != end) {
        uint32_t x[4], w[2];
        a = ember_ldm4(a, x);
        ember_ldrd_next(&b0, w);
        sums.a = ember_add_four(sums.a, w[0], x[0], x[1]);
        sums.a = ember_add_four(sums.a, w[1], x[2], x[3]);
        ember_ldrd_next(&b1, w);
        sums.b = ember_add_four(sums.b, w[0], x[0], x[1]);
        sums.b = ember_add_four(sums.b, w[1], x[2], x[3]);
    }
    if (inner % EIGHT != 0) {
        sums.a = ember_add_four(sums.a, ember_word_dsp(b0), a[0], a[1]);
        sums.b = ember_add_four(sums.b, ember_word_dsp(b1), a[0], a[1]);
    }
    return sums;
}

// What the offset of b adds to every sum with this row of a.
static int32_t base_of(const ember_matmul_s8_t *s, const int8_t *a) {
    int32_t sum = 0;

    for (int32_t k = 0; s->b_offset != 0 && k < s->inner; k++) {
        sum += a[k] + s->a_offset;
    }
    return sum * s->b_offset;
}

static void run_row(const ember_matmul_s8_dsp_t *dsp, const int8_t *b, int8_t *c,
                    int32_t base) {
    const ember_matmul_s8_t *s = &dsp->matmul;
    const bool aligned = s->inner % FOUR == 0 && (uintptr_t)b % FOUR == 0;
    const ember_scale_dsp_t by =
        ember_scale_dsp(s->by.multiplier, s->by.shift, s->c_offset);
    const int32_t *bias = s->bias;
    int32_t left = s->columns;

    for (; aligned && left >= ROWS; left -= ROWS) {
        sums_t sums = {base, base};
        if (bias != NULL) {
            sums = (sums_t){base + bias[0], base + bias[1]};
            bias += ROWS;
        }
        sums = sum_two(dsp, b, sums);
        c[0] = ember_limit_s8(ember_scaled_dsp(sums.a, by), s->limits);
        c[1] = ember_limit_s8(ember_scaled_dsp(sums.b, by), s->limits);
        b += ROWS * s->inner;
        c += ROWS;
    }
    for (; left > 0; left--) {
        const int32_t sum = sum_row(dsp, b, base + (bias == NULL ? 0 : *bias++));
        *c++ = ember_limit_s8(ember_scaled_dsp(sum, by), s->limits);
        b += s->inner;
    }
}

void ember_matmul_s8_dsp_run(const ember_matmul_s8_dsp_t *dsp) {
    const ember_matmul_s8_t *s = &dsp->matmul;
    const int8_t *a = s->a;
    const int8_t *b = s->b;
    int8_t *c = s->c;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t i = 0; i < s->rows; i++) {
            widen(dsp, a);
            run_row(dsp, b, c, base_of(s, a));
            a += s->inner;
            c += s->columns;
        }
        b += (ptrdiff_t)s->columns * s->inner;
    }
}

ember_status_t ember_matmul_s8_dsp_prepare(ember_matmul_s8_dsp_t *dsp,
                                           ember_node_t *node) {
    const ember_matmul_s8_t *s = &dsp->matmul;

    if (s->by.shift < EMBER_SHIFT_MIN_DSP || s->by.shift > EMBER_SHIFT_MAX_DSP ||
        s->inner > MOST ||
        !ember_sums_fit_dsp(s->bias, s->columns, s->inner * (int64_t)2)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: not for DSP");
    }
    const int32_t fours = (s->inner + FOUR - 1) / FOUR;
    dsp->words = ember_node_scratch(node, (size_t)fours * 2 * sizeof(uint32_t));
    return ember_node_status(node);
}
