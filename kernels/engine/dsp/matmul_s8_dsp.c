// SPDX-License-Identifier: Apache-2.0
// Products of int8 matrices with the DSP instructions. Contract:
// matmul_s8_dsp.h.
#include "kernels/engine/dsp/matmul_s8_dsp.h"

#include <arm_dsp_tiles.h>
#include <stddef.h>

#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4, ROWS = 4, CHUNK = 64, MOST = 1 << 14 }; // elements of a row

static const int32_t no_bias = 0;

// A row of a becomes words.
FAST void widen(uint32_t *to, const int8_t *a, int32_t inner, int32_t a_offset) {
    const uint32_t offset = ember_both_dsp(a_offset);
    const int32_t rest = inner % FOUR;

    for (int32_t left = inner / FOUR; left > 0; left--) {
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

FAST int32_t sum_row(const int8_t *b, const uint32_t *a, int32_t blocks) {
    int32_t sum = 0;

    for (; blocks > 0; blocks--) {
        sum = ember_add_four(sum, ember_ldr_next(&b), a[0], a[1]);
        a += 2;
    }
    return sum;
}

// Sums of products with `count` rows of b from `b` on, a multiple of four or less than
// that.
static void sum_rows(const uint32_t *words, int32_t inner, const int8_t *b,
                     int32_t count, int32_t *sums) {
    const int32_t blocks = inner / FOUR, rest = inner % FOUR;
    const int32_t by_four = blocks > 0 ? count & -ROWS : 0;

    if (by_four > 0) {
        ember_tiles_4x1(sums, by_four / ROWS, b, inner, words, blocks);
    }
    for (int32_t i = by_four; i < count; i++) {
        sums[i] = sum_row(b + i * inner, words, blocks);
    }
    for (int32_t i = 0; rest > 0 && i < count; i++) {
        const uint32_t *a = words + 2 * blocks;
        const uint32_t word = ember_part_dsp(b + i * inner + blocks * FOUR, rest);
        sums[i] = ember_add_four(sums[i], word, a[0], a[1]);
    }
}

// What the offset of b adds to every sum with this row of a.
static int32_t base_of(const ember_matmul_s8_t *s, const int8_t *a) {
    int32_t sum = 0;

    for (int32_t k = 0; s->b_offset != 0 && k < s->inner; k++) {
        sum += a[k] + s->a_offset;
    }
    return sum * s->b_offset;
}

// The sums of the outputs from `at` on, all of which begin with `base`.
FAST void scale(const ember_matmul_s8_t *s, const int32_t *sums, int32_t count,
                int32_t base, int32_t at, int8_t *c) {
    const ember_scale_dsp_t by =
        ember_scale_dsp(s->by.multiplier, s->by.shift, s->c_offset);
    const ember_limits_s8_t limits = s->limits;
    const int32_t *bias = s->bias == NULL ? &no_bias : s->bias + at;
    const int32_t biased = s->bias != NULL;

    for (int32_t i = 0; i < count; i++) {
        const int32_t twice = ember_add_twice(2 * base, *bias);
        c[i] = (int8_t)ember_scaled_half_dsp(ember_add_twice(twice, sums[i]), by);
        bias += biased;
    }
    if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
        for (int32_t i = 0; i < count; i++) {
            c[i] = ember_limit_s8(c[i], limits);
        }
    }
}

// Rows of b in chunks. Two or three that four lack at the end go with those before
// them.
static void run_row(const ember_matmul_s8_dsp_t *dsp, const int8_t *b, int8_t *c,
                    int32_t base, ember_matmul_ending_dsp_t ending) {
    const ember_matmul_s8_t *s = &dsp->matmul;
    int32_t sums[CHUNK];

    for (int32_t at = 0; at < s->columns;) {
        const int32_t left = s->columns - at;
        int32_t count = left < CHUNK ? left : CHUNK;
        if (count > ROWS && count % ROWS != 0) {
            count -= count % ROWS;
        } else if (count < ROWS && count > 1 && at > 0) {
            at = s->columns - ROWS;
            count = ROWS;
        }
        sum_rows(dsp->words, s->inner, b + at * s->inner, count, sums);
        if (ending == NULL) {
            scale(s, sums, count, base, at, c + at);
        } else {
            ending(s, sums, count, base, at, c + at);
        }
        at += count;
    }
}

void ember_matmul_s8_dsp_sums(const ember_matmul_s8_dsp_t *dsp, const int8_t *a,
                              const int8_t *b, int32_t count, int32_t *sums) {
    const ember_matmul_s8_t *s = &dsp->matmul;
    const int32_t base = base_of(s, a);

    widen(dsp->words, a, s->inner, s->a_offset);
    sum_rows(dsp->words, s->inner, b, count, sums);
    for (int32_t i = 0; base != 0 && i < count; i++) {
        sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)base);
    }
}

void ember_matmul_s8_dsp_products(uint32_t *words, int32_t inner, const int8_t *a,
                                  const int8_t *b, int32_t count, int32_t *sums) {
    widen(words, a, inner, 0);
    sum_rows(words, inner, b, count, sums);
}

size_t ember_matmul_s8_dsp_bytes(int32_t inner) {
    return (size_t)((inner + FOUR - 1) / FOUR) * 2 * sizeof(uint32_t);
}

SMALL void ember_matmul_s8_dsp_run(const ember_matmul_s8_dsp_t *dsp,
                                   ember_matmul_ending_dsp_t ending) {
    const ember_matmul_s8_t *s = &dsp->matmul;
    const int8_t *a = s->a;
    const int8_t *b = s->b;
    int8_t *c = s->c;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t i = 0; i < s->rows; i++) {
            widen(dsp->words, a, s->inner, s->a_offset);
            run_row(dsp, b, c, base_of(s, a), ending);
            a += s->inner;
            c += s->columns;
        }
        b += (ptrdiff_t)s->columns * s->inner;
    }
}

SMALL ember_status_t ember_matmul_s8_dsp_prepare(ember_matmul_s8_dsp_t *dsp,
                                                 ember_node_t *node) {
    const ember_matmul_s8_t *s = &dsp->matmul;

    const bool fits =
        ember_matmul_s8_is_real(s) ||
        (s->by.shift >= EMBER_SHIFT_MIN_DSP && s->by.shift <= EMBER_SHIFT_MAX_DSP &&
         ember_sums_fit_dsp(s->bias, s->columns, s->inner * (int64_t)2));

    if (!fits || s->inner > MOST) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with DSP");
    }
    const int32_t fours = (s->inner + FOUR - 1) / FOUR;
    dsp->words = ember_node_scratch(node, (size_t)fours * 2 * sizeof(uint32_t));
    return ember_node_status(node);
}
