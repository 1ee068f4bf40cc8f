// SPDX-License-Identifier: Apache-2.0
// One row times filters of int4. Contract: conv_s4_mve.h.
#include <arm_mve_s4.h>
#include <stddef.h>

#include "kernels/engine/mve/conv_s4_mve.h"
#include "kernels/engine/mve/products_mve.h"

enum { FOUR = 4, HALF = EMBER_BLOCK_S4 / 2, CHUNK = 128 };

// The sum of one filter, after `first`, with the `blocks` whole blocks.
static int32_t sum_one(int32_t first, const int8_t *row, const int8_t *x,
                       int32_t blocks) {

    for (; blocks > 0; blocks--) {
        const int8x16_t w = vldrbq_s8(row);
        first = vmladavaq_s8(first, vshlq_n_s8(w, 4), vldrbq_s8(x));
        first = vmladavaq_s8(first, w, vldrbq_s8(x + HALF));
        x += EMBER_BLOCK_S4;
        row += HALF;
    }
    return first;
}

// Adds to `count` sums the products of their last block, whose rows begin at `row`.
static __attribute__((noinline)) void add_rest(const ember_weights_s4_t *weights,
                                               const int8_t *row, const int8_t *x,
                                               int32_t count, int32_t *sums) {
    const int32_t rest = weights->inner % EMBER_BLOCK_S4;
    const int32_t half = ember_bytes_s4(rest);
    const mve_pred16_t first = vctp8q((uint32_t)(half < rest ? half : rest));
    const mve_pred16_t second = vctp8q((uint32_t)(half < rest ? rest - half : 0));
    const int8x16_t u = vldrbq_z_s8(x, first), v = vldrbq_z_s8(x + half, second);

#pragma GCC unroll 4
    for (int32_t f = 0; f < count; f++) {
        const int8x16_t w = vldrbq_z_s8(row, first); // where x is 0, any weight does
        const int32_t sum = vmladavaq_s8(sums[f], vshlq_n_s8(w, 4), u);
        sums[f] = vmladavaq_s8(sum, w, v);
        row += weights->pitch;
    }
}

// The outputs of `count` filters, from filter `from` on.
static __attribute__((noinline)) void scale(const ember_scales_s8_t *scales,
                                            const int32_t *sums, int32_t from,
                                            int32_t count, int8_t *y) {
    const int32x4_t least = vdupq_n_s32(scales->limits.low);
    const int32x4_t most = vdupq_n_s32(scales->limits.high);
    const int32_t *multipliers = scales->multipliers + from;
    const int32_t *shifts = scales->shifts + from;

    for (int32_t at = 0; at < count; at += EMBER_LANES_S32) {
        const mve_pred16_t lanes = vctp32q((uint32_t)(count - at));
        const int32x4_t by = vldrwq_z_s32(multipliers + at, lanes);
        const int32x4_t shift = vldrwq_z_s32(shifts + at, lanes);
        const int32x4_t u = ember_scaled_mve(vldrwq_z_s32(sums + at, lanes), by, shift);
        vstrbq_p_s32(y + from + at,
                     ember_limited_mve(u, scales->zero_point, least, most), lanes);
    }
}

// The same of `eights` > 0 times eight filters with plain scales.
static __attribute__((noinline)) void scale_eights(const ember_scales_s8_t *scales,
                                                   const int32_t *sums, int32_t from,
                                                   int32_t eights, int8_t *y) {
    const int32_t *multipliers = scales->multipliers + from;
    const int32_t *shifts = scales->shifts + from;
    const int32_t zero_point = scales->zero_point;

    y += from;
    do {
        const int32x4x2_t sum = vld2q_s32(sums), by = vld2q_s32(multipliers);
        const int32x4x2_t shift = vld2q_s32(shifts);
        const int32x4_t even = ember_shifted_mve(sum.val[0], by.val[0], shift.val[0]);
        const int32x4_t odd = ember_shifted_mve(sum.val[1], by.val[1], shift.val[1]);
        ember_store_eight_mve(y, even, odd, zero_point);
        sums += EMBER_LANES_S16;
        multipliers += EMBER_LANES_S16;
        shifts += EMBER_LANES_S16;
        y += EMBER_LANES_S16;
    } while (--eights > 0);
}

static void scale_all(const ember_conv_s4_mve_t *s, const int32_t *sums, int32_t from,
                      int32_t count) {
    const ember_conv_s8_t *conv = &s->columns.conv;
    const int32_t plain = s->columns.plain ? count & -EMBER_LANES_S16 : 0;

    if (plain > 0) {
        scale_eights(&conv->scales, sums, from, plain / EMBER_LANES_S16, conv->y);
    }
    if (plain < count) {
        scale(&conv->scales, sums + plain, from + plain, count - plain, conv->y);
    }
}

// The sums of `count` filters, after those of `first`.
static void sum_rows(const ember_conv_s4_mve_t *s, const int32_t *first,
                     const int8_t *row, int32_t count, int32_t *sums) {
    const ember_weights_s4_t *weights = &s->weights;
    const int32_t pitch = weights->pitch, blocks = weights->inner / EMBER_BLOCK_S4;
    const int8_t *x = s->columns.conv.x;
    const int32_t fours = blocks > 0 ? count & -FOUR : 0;

    if (fours > 0) {
        const ember_fours_s4_t four = {sums,  first,  row,         x,
                                       pitch, blocks, fours / FOUR};
        ember_fours_s4(&four);
    }
    for (int32_t f = fours; f < count; f++) {
        const int8_t *from = row + f * pitch;
        sums[f] = blocks > 0 ? sum_one(first[f], from, x, blocks) : first[f];
    }
    if (weights->inner % EMBER_BLOCK_S4 != 0) {
        add_rest(weights, row + blocks * HALF, x + blocks * EMBER_BLOCK_S4, count,
                 sums);
    }
}

void ember_row_s4_mve_run(const ember_conv_s4_mve_t *s) {
    const ember_conv_s8_t *conv = &s->columns.conv;
    const int32_t *first = conv->scales.bias;
    int32_t sums[CHUNK];

    for (int32_t from = 0; from < conv->filters; from += CHUNK) {
        const int32_t left = conv->filters - from;
        const int32_t count = left < CHUNK ? left : CHUNK;
        const int8_t *row = s->weights.rows + (ptrdiff_t)from * s->weights.pitch;
        sum_rows(s, first + from, row, count, sums);
        scale_all(s, sums, from, count);
    }
}

ember_status_t ember_row_s4_mve_prepare(ember_conv_s4_mve_t *s, ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->columns.conv;

    if (conv->rows < EMBER_ROWS_RIGHT || conv->x_offset != 0 ||
        conv->scales.bias == NULL) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "ember: not supported with Helium");
    }
    s->columns.plain = ember_is_plain_mve(conv);
    s->weights = ember_weights_s4(conv, conv->filters);
    return EMBER_OK;
}
