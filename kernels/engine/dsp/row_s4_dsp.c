// SPDX-License-Identifier: Apache-2.0
// One row times filters of int4. Contract: conv_s4_dsp.h.
#include <arm_dsp_s4.h>
#include <stddef.h>

#include "kernels/engine/dsp/conv_s4_dsp.h"
#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4, HALF = EMBER_BLOCK_S4 / 2, CHUNK = 64 };

static const uint32_t upper = 0xF0F0F0F0u;

// The first `left` elements of four; the others are 0 with the offset.
INLINE uint32_t part_of(const int8_t *x, int32_t left, int32_t offset) {
    const uint32_t none = (uint8_t)-offset * 0x01010101u;

    return left <= 0 ? none : ember_part_dsp(x, left) | none << 8 * left;
}

// Elements become words, of each four the even and the odd ones, four words apart.
FAST void widen_half(uint32_t *to, const int8_t *x, int32_t left, int32_t half,
                     int32_t offset) {
    const uint32_t both = ember_both_dsp(offset);

    for (; half > 0; half -= FOUR) {
        const uint32_t word =
            left >= FOUR ? ember_word_dsp(x) : part_of(x, left, offset);
        to[0] = ember_sxtab16(both, word);
        to[1] = ember_sxtab16_odd(both, word);
        to += FOUR;
        x += FOUR;
        left -= FOUR;
    }
}

// What ember_pairs_s4() takes.
static void widen(const ember_conv_s4_dsp_t *s) {
    const int32_t offset = s->columns.conv.x_offset;
    const int8_t *x = s->columns.conv.x;
    uint32_t *to = s->columns.words;

    for (int32_t left = s->weights.inner; left > 0; left -= EMBER_BLOCK_S4) {
        const int32_t half = left < EMBER_BLOCK_S4 ? ember_bytes_s4(left) : HALF;
        widen_half(to, x, left, half, offset);
        widen_half(to + 2, x + half, left - half, half, offset);
        to += half;
        x += EMBER_BLOCK_S4;
    }
}

// The last filter of an odd number, from words as ember_pairs_s4() takes them.
FAST int32_t sum_one(const int8_t *row, int32_t pitch, const uint32_t *x) {
    int32_t sum = 0;

    for (const int8_t *end = row + pitch; row != end; x += FOUR) {
        const uint32_t word = ember_ldr_next(&row);
        sum = ember_add_four(sum, word << 4 & upper, x[0], x[1]);
        sum = ember_add_four(sum, word, x[2], x[3]);
    }
    return sum;
}

// The sums of `count` filters.
FAST void sum_rows(const ember_conv_s4_dsp_t *s, const int8_t *row, int32_t count,
                   int32_t *sums) {
    const int32_t pitch = s->weights.pitch, last = count - 1;
    const uint32_t *x = s->columns.words;
    ember_pairs_s4_t pairs = {sums, row, pitch, x, count / 2};

    if (count > 1) {
        ember_pairs_s4(&pairs);
    }
    if (count % 2 != 0) {
        sums[last] = sum_one(row + last * pitch, pitch, x);
    }
}

SMALL void ember_row_s4_dsp_run(const ember_conv_s4_dsp_t *s) {
    const ember_conv_s8_t *conv = &s->columns.conv;
    const int8_t *row = s->weights.rows;
    int32_t sums[CHUNK];

    widen(s);
    ember_ending_dsp.set_filters(&s->columns);
    for (int32_t from = 0; from < conv->filters; from += CHUNK) {
        const int32_t left = conv->filters - from;
        const int32_t count = left < CHUNK ? left : CHUNK;
        sum_rows(s, row, count, sums);
        row += (ptrdiff_t)CHUNK * s->weights.pitch;
        ember_ending_dsp.one(&s->columns, sums, from, count, conv->y);
    }
}

SMALL ember_status_t ember_row_s4_dsp_prepare(ember_conv_s4_dsp_t *s,
                                              ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->columns.conv;

    s->weights = ember_weights_s4(conv, conv->filters);
    return ember_columns_dsp_prepare(&s->columns, node, 1, EMBER_WEIGHTS_PLAIN);
}
