// SPDX-License-Identifier: Apache-2.0
// Part of depthwise_hvx.c: the products of a row of words by the weights, in blocks of
// 128 outputs.
#ifndef EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_PRODUCTS_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_PRODUCTS_HVX_H

#include "kernels/engine/hvx/depthwise_filters_hvx.h"

// What the outputs of a row have in common.
typedef struct row {
    const int8_t *words;
    const int32_t *offsets; // bytes, of each tap
    int32_t taps;
    int32_t next;    // bytes from the weights of a tap to the next's
    int32_t periods; // whole ones of blocks
    int32_t more;    // blocks
    bool shifted;    // by all filters: none of their shifts is 0
    HVX_Vector zero_point;
    HVX_Vector zeros; // twice the zero point
    HVX_Vector low;
    HVX_Vector high;
    const int8_t *end;                // of y
    const ember_ending_hvx_t *ending; // NULL: the factors among the numbers
    HVX_Vector *nearest; // of each of up to AT_ONCE blocks, to its next results
} row_t;

// Stores the sums of `blocks` times 128 outputs, scaled, or as results of an ending.
// `inside`: none is beyond the end.
INLINE void store_blocks(const row_t *row, const HVX_Vector *words, int8_t *y,
                         int32_t step, int blocks, bool results, bool inside) {
    HVX_Vector bytes[4];

    EMBER_HVX_UNROLL
    for (int n = 0; n < blocks; n++) {
        const HVX_Vector *own = words + n * FOUR;
        if (results) {
            bytes[n] =
                ember_result_bytes_hvx(row->ending, own[0], own[1], own[2], own[3]);
            continue;
        }
        const HVX_Vector all = ember_bytes_hvx(own[0], own[1], own[2], own[3]);
        bytes[n] = Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(all, row->low), row->high);
    }
    if (inside || row->end - (y + (blocks - 1) * step) >= EMBER_HVX) {
        EMBER_HVX_UNROLL
        for (int n = 0; n < blocks; n++) {
            ember_hvx_store_any(y + n * step, bytes[n]);
        }
        return;
    }
    for (int n = 0; n < blocks; n++) {
        ember_store_until_hvx(y + n * step, row->end, bytes[n]);
    }
}

// The sums of `blocks` times 128 outputs, which are `step` apart, with the weights from
// `weights` on.
INLINE void add_blocks(const row_t *row, const int8_t *words, const int8_t *weights,
                       const HVX_Vector *numbers, int32_t step, int blocks,
                       HVX_Vector *sums) {
    const int32_t *offsets = row->offsets;
    const HVX_Vector *own = numbers;

    EMBER_HVX_UNROLL
    for (int v = 0; v < FOUR; v++) {
        const HVX_Vector bias = ember_hvx_load(own + EMBER_BIAS_HVX);
        EMBER_HVX_UNROLL
        for (int n = 0; n < blocks; n++) {
            sums[n * FOUR + v] = bias;
        }
        own = ember_hvx_somewhere(own + EMBER_NUMBERS_HVX);
    }
    EMBER_HVX_ROLLED
    for (int32_t tap = row->taps; tap > 0; tap--) {
        const int8_t *from[4];
        EMBER_HVX_UNROLL
        for (int n = 0; n < blocks; n++) {
            from[n] = words + *offsets + n * step * WORD;
        }
        offsets++;
        EMBER_HVX_UNROLL
        for (int v = 0; v < FOUR; v++) {
            const HVX_Vector w = ember_hvx_load(weights + v * EMBER_HVX);
            EMBER_HVX_UNROLL
            for (int n = 0; n < blocks; n++) {
                const HVX_Vector x = ember_hvx_load_any(from[n]);
                sums[n * FOUR + v] = Q6_Vw_vrmpyacc_VwVbVb(sums[n * FOUR + v], x, w);
                from[n] = ember_hvx_somewhere(from[n] + EMBER_HVX);
            }
        }
        weights += row->next;
    }
}

INLINE bool is_in_doubt(const row_t *row, HVX_Vector nearest) {
    return ember_is_any_below_hvx(nearest, row->ending->doubt);
}

// The least of `count` vectors, up to four.
INLINE HVX_Vector least_of(const HVX_Vector *nearest, int32_t count) {
    HVX_Vector least = ember_hvx_load(nearest);

    for (int32_t i = 1; i < count; i++) {
        least = Q6_Vw_vmin_VwVw(least, ember_hvx_load(nearest + i));
    }
    return least;
}

// Outputs of a block that has `counts` of doubts: mostly one.
INLINE void settle(const row_t *row, HVX_Vector *sums, HVX_Vector counts, int8_t *y) {
    const ember_ending_hvx_t *ending = row->ending;
    int8_t results[FOUR];

    if (ember_last_count_hvx(counts) != WORD) {
        ending->exact(ending, sums, FOUR);
        store_blocks(row, sums, y, 0, 1, false, false);
        return;
    }
    const HVX_Vector before =
        Q6_Vb_prefixsum_Q(Q6_Q_vcmp_eq_VwVw(counts, Q6_V_vzero()));
    const int32_t lane = ember_last_count_hvx(before) / WORD;
    ending->lane(ending, (const int32_t *)(const void *)sums + lane, results);
    y += lane;
    for (int32_t v = 0; v < FOUR; v++, y += EMBER_HVX / WORD) {
        if (y < row->end) {
            *y = results[v];
        }
    }
}

// Those of `blocks` that the ending left in doubt, exactly.
static __attribute__((noinline)) void again(const row_t *row, const int8_t *words,
                                            const int8_t *weights,
                                            const HVX_Vector *numbers, int8_t *y,
                                            int32_t step, int32_t blocks) {
    const HVX_Vector *nearest = row->nearest;

    for (int32_t n = 0; n < blocks; n++) {
        if (n % 4 == 0 && blocks - n >= 4 &&
            !is_in_doubt(row, least_of(nearest + n, 4))) {
            n += 3;
            continue;
        }
        const HVX_Vector counts =
            ember_counts_below_hvx(ember_hvx_load(nearest + n), row->ending->doubt);
        if (ember_last_count_hvx(counts) != 0) {
            HVX_Vector sums[FOUR];
            add_blocks(row, words + n * step * WORD, weights, numbers, step, 1, sums);
            settle(row, sums, counts, y + n * step);
        }
    }
}

// Four neighbouring outputs of 128 channels with three neighbouring taps of one group
// of rows: what an output has from its second tap on is what the next has before.
// `nearest`: of an ending, or NULL.
INLINE void three(const row_t *row, const int8_t *words, const int8_t *weights,
                  const HVX_Vector *numbers, int8_t *y, int32_t step,
                  HVX_Vector *nearest) {
    const HVX_Vector *own = numbers;
    HVX_Vector sums[4 * FOUR];

    EMBER_HVX_UNROLL
    for (int n = 0; nearest != NULL && n < 4; n++) {
        nearest[n] = ember_hvx_load(&row->ending->fraction);
    }
    EMBER_HVX_UNROLL
    for (int v = 0; v < FOUR; v++) {
        const int8_t *from = words + v * EMBER_HVX;
        const int8_t *by = weights + v * EMBER_HVX;
        const HVX_Vector bias = ember_hvx_load(own + EMBER_BIAS_HVX);
        const HVX_Vector first = ember_hvx_load(by);
        const HVX_Vector second = ember_hvx_load(by + row->next);
        const HVX_Vector third = ember_hvx_load(by + 2 * row->next);
        const HVX_Vector multipliers = ember_hvx_load(own + EMBER_MULTIPLIERS_HVX);
        const HVX_Vector halves = ember_hvx_load(own + EMBER_HALVES_HVX);
        HVX_Vector x[6];
        EMBER_HVX_UNROLL
        for (int n = 0; n < 6; n++) {
            x[n] = ember_hvx_load(from + n * step * WORD);
        }
        EMBER_HVX_UNROLL
        for (int n = 0; n < 4; n++) {
            HVX_Vector sum = Q6_Vw_vrmpyacc_VwVbVb(bias, x[n], first);
            sum = Q6_Vw_vrmpyacc_VwVbVb(sum, x[n + 1], second);
            sum = Q6_Vw_vrmpyacc_VwVbVb(sum, x[n + 2], third);
            sums[n * FOUR + v] =
                nearest != NULL
                    ? ember_result_hvx(row->ending, sum, &nearest[n])
                    : ember_shifted_hvx(sum, multipliers, halves, row->zeros);
        }
        own = ember_hvx_somewhere(own + EMBER_NUMBERS_HVX);
    }
    store_blocks(row, sums, y, step, 4, nearest != NULL, true);
}

// `fours` times four. Apart, like the others, for the sake of registers and of a frame
// that does not have to be aligned.
static __attribute__((noinline)) void run_threes(const row_t *row, const int8_t *words,
                                                 const int8_t *weights,
                                                 const HVX_Vector *numbers, int8_t *y,
                                                 int32_t step, int32_t fours) {
    for (; fours > 0; fours--) {
        three(row, words, weights, numbers, y, step, NULL);
        words += 4 * step * WORD;
        y += 4 * step;
    }
}

// The same by the row's ending, with doubts settled.
static __attribute__((noinline)) void
run_threes_otherwise(const row_t *row, const int8_t *words, const int8_t *weights,
                     const HVX_Vector *numbers, int8_t *y, int32_t step,
                     int32_t fours) {
    HVX_Vector *to = row->nearest;
    HVX_Vector least = ember_hvx_load(&row->ending->fraction);
    const int8_t *from = words;
    int8_t *at = y;

    for (int32_t left = fours; left > 0; left--) {
        HVX_Vector nearest[4];
        three(row, from, weights, numbers, at, step, nearest);
        EMBER_HVX_UNROLL
        for (int n = 0; n < 4; n++) {
            least = Q6_Vw_vmin_VwVw(least, nearest[n]);
            ember_hvx_store(to++, nearest[n]);
        }
        from += 4 * step * WORD;
        at += 4 * step;
    }
    if (is_in_doubt(row, least)) {
        again(row, words, weights, numbers, y, step, 4 * fours);
    }
}

// Ends the sums of `blocks` by the row's ending, and stores them. Returns whether there
// is a doubt; what each has to the next results is then kept.
INLINE bool end_blocks(const row_t *row, HVX_Vector *sums, int8_t *y, int32_t step,
                       int blocks, bool inside) {
    HVX_Vector nearest[4];

    EMBER_HVX_UNROLL
    for (int n = 0; n < blocks; n++) {
        nearest[n] = ember_hvx_load(&row->ending->fraction);
        EMBER_HVX_UNROLL
        for (int v = n * FOUR; v < (n + 1) * FOUR; v++) {
            sums[v] = ember_result_hvx(row->ending, sums[v], &nearest[n]);
        }
    }
    store_blocks(row, sums, y, step, blocks, true, inside);
    if (!is_in_doubt(row, least_of(nearest, blocks))) {
        return false;
    }
    EMBER_HVX_UNROLL
    for (int n = 0; n < blocks; n++) {
        ember_hvx_store(row->nearest + n, nearest[n]);
    }
    return true;
}

INLINE void run_blocks(const row_t *row, const int8_t *words, const int8_t *weights,
                       const HVX_Vector *numbers, int8_t *y, int32_t step, int blocks,
                       bool inside) {
    HVX_Vector sums[4 * FOUR];

    add_blocks(row, words, weights, numbers, step, blocks, sums);
    if (row->ending != NULL) {
        if (end_blocks(row, sums, y, step, blocks, inside)) {
            again(row, words, weights, numbers, y, step, blocks);
        }
        return;
    }
    if (row->shifted) {
        ember_scale_shifted_hvx(numbers, row->zeros, sums, blocks, FOUR, true);
    } else {
        ember_scale_any_hvx(numbers, row->zero_point, sums, blocks, FOUR);
    }
    store_blocks(row, sums, y, step, blocks, false, inside);
}

// `count` blocks of 128 outputs.
INLINE void run_line(const row_t *row, const int8_t *words, const int8_t *weights,
                     const HVX_Vector *numbers, int8_t *y, int32_t step, int32_t count,
                     bool inside) {
    const int32_t near = step * WORD;
    const bool neighbours = row->taps == 3 && row->offsets[0] == 0 &&
                            row->offsets[1] == near && row->offsets[2] == 2 * near;

    while (neighbours && count > (inside ? 3 : 4) &&
           (row->shifted || row->ending != NULL)) {
        int32_t fours = (inside ? count : count - 1) / 4;
        if (row->ending == NULL) {
            run_threes(row, words, weights, numbers, y, step, fours);
        } else {
            fours = fours < AT_ONCE / 4 ? fours : AT_ONCE / 4;
            run_threes_otherwise(row, words, weights, numbers, y, step, fours);
        }
        words += fours * 4 * near;
        y += fours * 4 * step;
        count -= fours * 4;
    }
    for (; count >= 4; count -= 4) {
        run_blocks(row, words, weights, numbers, y, step, 4, inside);
        words += 4 * step * WORD;
        y += 4 * step;
    }
    for (; count >= 2; count -= 2) {
        run_blocks(row, words, weights, numbers, y, step, 2, inside);
        words += 2 * step * WORD;
        y += 2 * step;
    }
    if (count > 0) {
        run_blocks(row, words, weights, numbers, y, step, 1, inside);
    }
}

// Apart, for the sake of registers.
static __attribute__((noinline)) void run_inside(const row_t *row, const int8_t *words,
                                                 const int8_t *weights,
                                                 const HVX_Vector *numbers, int8_t *y,
                                                 int32_t step, int32_t count) {
    run_line(row, words, weights, numbers, y, step, count, true);
}

// The last of which may go beyond the end.
static __attribute__((noinline)) void run_to_end(const row_t *row, const int8_t *words,
                                                 const int8_t *weights,
                                                 const HVX_Vector *numbers, int8_t *y,
                                                 int32_t step, int32_t count) {
    run_line(row, words, weights, numbers, y, step, count, false);
}

// Blocks of 128 outputs that are a period apart have the same weights.
static void run_row(const ember_depthwise_hvx_t *s, const row_t *row,
                    const int8_t *weights, const HVX_Vector *numbers, int8_t *y) {
    const int32_t step = s->period, blocks = row->periods * (step / EMBER_HVX);
    const bool inside = row->end - y >= (blocks + row->more) * EMBER_HVX;
    int32_t more = row->more;

    for (int32_t at = 0; at < step; at += EMBER_HVX, more--) {
        const int8_t *words = row->words + at * WORD, *w = weights + at * WORD;
        const HVX_Vector *own = numbers + at / 32 * EMBER_NUMBERS_HVX;
        const int32_t count = row->periods + (more > 0 ? 1 : 0);
        if (inside) {
            run_inside(row, words, w, own, y + at, step, count);
        } else {
            run_to_end(row, words, w, own, y + at, step, count);
        }
    }
}

#endif // EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_PRODUCTS_HVX_H
