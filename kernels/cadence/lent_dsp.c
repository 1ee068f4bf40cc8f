// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect with the DSP instructions. Contract: lent_dsp.h.
#include "kernels/cadence/lent_dsp.h"

#include <arm_dsp_columns.h>

#include "kernels/cadence/real_dsp.h"
#include "kernels/cortex_m/depthwise_windows_dsp.h"

// --- columns -------------------------------------------------------------------------

INLINE ember_real_dsp_t real_of(const ember_scales_s8_t *scales) {
    return (ember_real_dsp_t){scales->scale, scales->inverse, scales->zero_point};
}

static int32_t set_filters(const ember_columns_dsp_t *s) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const int32_t filters = s->conv.filters;

    for (int32_t f = 0; f < filters; f++) {
        s->by[f].bias = scales->bias[f];
    }
    if (filters == 1) {
        s->by[1] = s->by[0];
    }
    return scales->zero_point;
}

// One piece of code for all callers.
static __attribute__((noinline)) void multiply(const ember_columns_dsp_t *s,
                                               const ember_tiles_dsp_t *tiles) {
    const ember_real_dsp_t by = real_of(&s->conv.scales);
    ember_tiles_real_dsp(tiles, &by);
}

static void end_one(const ember_columns_dsp_t *s, const int32_t *sums, int32_t from,
                    int32_t count, int8_t *y) {
    const ember_real_start_dsp_t start = {s->conv.scales.bias + from, 1, 0};
    const ember_real_dsp_t by = real_of(&s->conv.scales);

    ember_real_store_dsp(&by, sums, count, start, y + from);
}

static const ember_ending_dsp_t ending = {set_filters, multiply, end_one};

// --- one filter per channel ----------------------------------------------------------

INLINE void store(const block_t *block, sums_t sums, int8_t *y) {
    const ember_real_dsp_t by = real_of(block->scales);

    ember_real_pair_dsp(&sums.a, &sums.b, &by);
    ember_real_pair_dsp(&sums.c, &sums.d, &by);
    y[0] = (int8_t)sums.a;
    y[1] = (int8_t)sums.b;
    y[2] = (int8_t)sums.c;
    y[3] = (int8_t)sums.d;
}

FAST void run_windows(const ember_depthwise_s8_dsp_t *s, int32_t from) {
    run_block(s, from, store);
}

static ember_filter_dsp_t filter(const ember_scales_s8_t *scales, int32_t channel) {
    return (ember_filter_dsp_t){scales->bias[channel], scales->zero_point, 0};
}

static void pairs(const ember_scales_s8_t *scales, const ember_lines_run_dsp_t *run) {
    const ember_real_dsp_t by = real_of(scales);
    ember_lines_real_1_dsp(run, &by);
}

static void every_second(const ember_scales_s8_t *scales,
                         const ember_lines_run_dsp_t *run) {
    const ember_real_dsp_t by = real_of(scales);
    ember_lines_real_2_dsp(run, &by);
}

static const ember_lines_ending_dsp_t lines_ending = {filter, pairs, every_second};

static void run_depthwise(const ember_depthwise_s8_dsp_t *s) {
    const int32_t last = s->conv.channels - FOUR;

    for (int32_t from = 0; from < s->conv.channels; from += FOUR) {
        const int32_t first = from < last ? from : last;
        if (s->by_line) {
            ember_lines_dsp_run(&s->lines, &s->conv, &lines_ending, first);
        } else {
            run_windows(s, first);
        }
    }
}

// --- both ----------------------------------------------------------------------------

SMALL ember_status_t ember_lent_dsp_prepare(ember_lent_dsp_t *s,
                                            const ember_conv_s8_t *conv,
                                            ember_node_t *node) {
    s->conv = *conv;
    return s->lent.depthwise
               ? ember_depthwise_s8_dsp_prepare(&s->depthwise, node)
               : ember_columns_dsp_prepare(&s->columns, node, ember_conv_s8_taps(conv),
                                           EMBER_WEIGHTS_PLAIN);
}

void ember_lent_dsp_run(const ember_lent_dsp_t *s) {
    if (s->lent.depthwise) {
        run_depthwise(&s->depthwise);
    } else {
        ember_columns_dsp_run(&s->columns, ember_conv_s8_steps(&s->conv), &ending);
    }
}

INLINE void put_word(int8_t *to, uint32_t word) {
    memcpy(to, &word, sizeof(word));
}

// Four rows become words, four columns at a time.
FAST void turn_four(int8_t *to, const int8_t *from, int32_t rows, int32_t columns) {
    for (int32_t left = columns / FOUR; left > 0; left--) {
        uint32_t a = ember_word_dsp(from), b = ember_word_dsp(from + columns);
        uint32_t c = ember_word_dsp(from + 2 * columns);
        uint32_t d = ember_word_dsp(from + 3 * columns);
        ember_turn_four_dsp(&a, &b, &c, &d);
        put_word(to, a);
        put_word(to + rows, b);
        put_word(to + 2 * rows, c);
        put_word(to + 3 * rows, d);
        from += FOUR;
        to += FOUR * rows;
    }
    for (int32_t left = columns % FOUR; left > 0; left--) {
        put_word(to, (uint8_t)from[0] | (uint32_t)(uint8_t)from[columns] << 8 |
                         (uint32_t)(uint8_t)from[2 * columns] << 16 |
                         (uint32_t)(uint8_t)from[3 * columns] << 24);
        from++;
        to += rows;
    }
}

void ember_turn_dsp(int8_t *to, const int8_t *from, int32_t rows, int32_t columns) {
    int32_t i = 0;

    for (; i + FOUR <= rows; i += FOUR) {
        turn_four(to + i, from + i * columns, rows, columns);
    }
    for (; i < rows; i++) {
        int8_t *at = to + i;
        const int8_t *row = from + i * columns;
        for (int32_t j = columns; j > 0; j--) {
            *at = *row++;
            at += rows;
        }
    }
}
