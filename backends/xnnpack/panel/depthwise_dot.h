// SPDX-License-Identifier: Apache-2.0
// Two rows of a depthwise convolution, three by three, by SDOT: the three taps of a
// column of the window are one step, for four channels at once. A column that the next
// window shares is transposed only once.
#ifndef EMBER_XNNPACK_DEPTHWISE_DOT_H
#define EMBER_XNNPACK_DEPTHWISE_DOT_H

#include "backends/xnnpack/nodes/neon.h"
#include "backends/xnnpack/nodes/window.h"

enum { SIDE = 3 }; // of the window

// A block of channels.
typedef struct block {
    int8x16_t w[SIDE][2];
    int8x16_t below[SIDE][2]; // the same for a window one row lower
    int32x4_t start[2];
    xnn_neon_round_t round;
    int8x16_t outside; // zero points
} block_t;

// Two rows of the output, whose windows are one or two rows apart.
typedef struct lines {
    const int8_t *rows[SIDE + 2]; // of the input, at the block's channels
    int8_t *to[2];                // of the output; for a single row twice the same
    int32_t width;                // of the input
    ptrdiff_t channels;           // of a pixel
} lines_t;

// Four channels, four rows each, twice: for the window of the first row and, if windows
// are two rows apart, also for that of the second.
typedef struct column {
    int8x16_t of[4];
} column_t;

// Only the low half matters.
static inline int8x16_t load_eight(const int8_t *from) {
    return vcombine_s8(vld1_s8(from), vdup_n_s8(0));
}

static inline void turn(int8x16_t upper, int8x16_t lower, int8x16_t *to) {
    const int16x8_t x = vreinterpretq_s16_s8(upper);
    const int16x8_t y = vreinterpretq_s16_s8(lower);
    to[0] = vreinterpretq_s8_s16(vzip1q_s16(x, y));
    to[1] = vreinterpretq_s8_s16(vzip2q_s16(x, y));
}

// Column x of the input.
XNN_INLINE column_t inner_column(const lines_t *lines, int32_t x,
                                 const int32_t stride) {
    const ptrdiff_t at = x * lines->channels;
    const int8x16_t upper =
        vzip1q_s8(load_eight(lines->rows[0] + at), load_eight(lines->rows[1] + at));
    const int8x16_t lower =
        vzip1q_s8(load_eight(lines->rows[2] + at), load_eight(lines->rows[3] + at));
    column_t column = {{upper, lower, upper, lower}};
    turn(upper, lower, column.of);
    if (stride == 2) {
        const int8x16_t last = load_eight(lines->rows[4] + at);
        turn(lower, vzip1q_s8(last, last), column.of + 2);
    }
    return column;
}

// The same, or zero points outside.
XNN_INLINE column_t any_column(const lines_t *lines, const block_t *block, int32_t x,
                               const int32_t stride) {
    const int8x16_t zero = block->outside;
    return (uint32_t)x < (uint32_t)lines->width ? inner_column(lines, x, stride)
                                                : (column_t){{zero, zero, zero, zero}};
}

// Sums of eight channels: three columns times their weights.
XNN_INLINE int16x8_t sum_up(const column_t *const *columns, const uint32_t first,
                            const int8x16_t (*w)[2], const block_t *block) {
    int32x4_t s[2];
    for (uint32_t i = 0; i < 2; i++) {
        s[i] = vdotq_s32(block->start[i], w[0][i], columns[0]->of[first + i]);
        s[i] = vdotq_s32(s[i], w[1][i], columns[1]->of[first + i]);
        s[i] = vdotq_s32(s[i], w[2][i], columns[2]->of[first + i]);
    }
    return xnn_neon_rounded(s[0], s[1], &block->round);
}

// A pixel of both rows, from three columns.
XNN_INLINE void put_pixel(const lines_t *lines, const block_t *block, int32_t pixel,
                          const column_t *a, const column_t *b, const column_t *c,
                          const int32_t stride) {
    const column_t *columns[] = {a, b, c};
    const ptrdiff_t at = pixel * lines->channels;
    const int16x8_t upper = sum_up(columns, 0, block->w, block);
    const int16x8_t lower = stride == 1 ? sum_up(columns, 0, block->below, block)
                                        : sum_up(columns, 2, block->w, block);
    int8x16_t out = vqmovn_high_s16(vqmovn_s16(upper), lower);
    out = vminq_s8(vmaxq_s8(out, block->round.low), block->round.high);
    vst1_s8(lines->to[1] + at, vget_high_s8(out));
    vst1_s8(lines->to[0] + at, vget_low_s8(out));
}

// Pixels of which only the first two columns may be outside, a few at a time; returns
// how many. `c` are the first two columns, and afterwards those of the next pixel.
XNN_INLINE int32_t run_inside(const lines_t *lines, const block_t *block,
                              const ember_xnn_axis_t *across, column_t *c,
                              const int32_t stride) {
    const int32_t behind = lines->width - stride - 1 + across->before;
    const int32_t inside = (behind + stride - 1) / stride;
    const int32_t end = across->before > 2     ? 0
                        : inside < across->out ? inside
                                               : across->out;
    int32_t i = 0, x = -across->before + 2;
    for (; stride == 1 && i + 3 <= end; i += 3, x += 3) {
        const column_t c2 = inner_column(lines, x, 1);
        put_pixel(lines, block, i, &c[0], &c[1], &c2, 1);
        c[0] = inner_column(lines, x + 1, 1);
        put_pixel(lines, block, i + 1, &c[1], &c2, &c[0], 1);
        c[1] = inner_column(lines, x + 2, 1);
        put_pixel(lines, block, i + 2, &c2, &c[0], &c[1], 1);
    }
    for (; stride == 2 && i + 2 <= end; i += 2, x += 4) {
        const column_t c2 = inner_column(lines, x, 2);
        put_pixel(lines, block, i, &c[0], &c[1], &c2, 2);
        c[1] = inner_column(lines, x + 1, 2);
        c[0] = inner_column(lines, x + 2, 2);
        put_pixel(lines, block, i + 1, &c2, &c[1], &c[0], 2);
        c[1] = inner_column(lines, x + 3, 2);
    }
    return i;
}

XNN_INLINE void run_lines(const lines_t *lines, const block_t *block,
                          const ember_xnn_axis_t *across, const int32_t stride) {
    const int32_t left = -across->before;
    column_t c[SIDE] = {any_column(lines, block, left, stride),
                        any_column(lines, block, left + 1, stride)};
    int32_t i = run_inside(lines, block, across, c, stride);
    for (int32_t x = left + i * stride; i < across->out; i++, x += stride) {
        c[2] = any_column(lines, block, x + 2, stride);
        put_pixel(lines, block, i, &c[0], &c[1], &c[2], stride);
        c[0] = stride == 1 ? c[1] : c[2];
        c[1] = stride == 1 ? c[2] : any_column(lines, block, x + 3, stride);
    }
}

#endif // EMBER_XNNPACK_DEPTHWISE_DOT_H
