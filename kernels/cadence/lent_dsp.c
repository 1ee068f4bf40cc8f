// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect with the DSP instructions. Contract: lent_dsp.h.
#include "kernels/cadence/lent_dsp.h"

#include <arm_dsp_columns.h>

#include "kernels/cadence/real_dsp.h"
#include "kernels/cortex_m/depthwise_windows_dsp.h"

enum { COLUMNS = EMBER_COLUMNS_DSP, PAIR = 2 };

// --- columns -------------------------------------------------------------------------

// The sums lie where this dialect's scales would: three for a filter.
static void set_filters(const ember_columns_dsp_t *s) {
    (void)s;
}

// Sums of pairs of filters, those of column n at n * pitch.
FAST void multiply(const ember_tiles_dsp_t *tiles, const int32_t *bias, int32_t *sums,
                   int32_t pitch) {
    const ember_tile_sums_dsp_t task = {
        .w = tiles->w,
        .x = tiles->x,
        .pitch = tiles->pitch,
        .blocks = tiles->blocks,
        .bias = bias,
        .pairs = tiles->pairs,
        .sums = {sums, sums + pitch, sums + 2 * pitch},
    };
    ember_tile_sums_dsp(&task);
}

static void run_filters(const ember_columns_dsp_t *s, ember_columns_tiles_t *tiles,
                        int8_t *const y[COLUMNS]) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const int32_t filters = s->conv.filters;
    const int32_t pitch = filters > 1 ? filters : PAIR;
    const int32_t both[PAIR] = {scales->bias[0], scales->bias[0]};
    int32_t *sums = (int32_t *)(void *)s->by;

    if (tiles->pairs.pairs > 0) {
        multiply(&tiles->pairs, scales->bias, sums, pitch);
    }
    if (tiles->last.pairs > 0) {
        const int32_t *bias = filters > 1 ? scales->bias + filters - PAIR : both;
        multiply(&tiles->last, bias, sums + pitch - PAIR, pitch);
    }
    for (int32_t n = 0; n < COLUMNS; n++) {
        ember_real_store_dsp(scales, sums + n * pitch, filters, y[n]);
    }
}

static void end_one(const ember_columns_dsp_t *s, const int32_t *sums, int32_t from,
                    int32_t count, int8_t *y) {
    const ember_scales_s8_t *scales = &s->conv.scales;

    for (int32_t i = 0; i < count; i++) {
        const uint32_t bias = (uint32_t)scales->bias[from + i];
        y[from + i] = ember_real_s8((int32_t)((uint32_t)sums[i] + bias), scales->scale,
                                    scales->inverse, scales->zero_point);
    }
}

static const ember_ending_dsp_t ending = {set_filters, run_filters, end_one};

// --- one filter per channel ----------------------------------------------------------

INLINE void store(const block_t *block, sums_t sums, int8_t *y) {
    const float scale = block->scales->scale, inverse = block->scales->inverse;
    const int32_t zero_point = block->scales->zero_point;

    y[0] = ember_real_s8(sums.a, scale, inverse, zero_point);
    y[1] = ember_real_s8(sums.b, scale, inverse, zero_point);
    y[2] = ember_real_s8(sums.c, scale, inverse, zero_point);
    y[3] = ember_real_s8(sums.d, scale, inverse, zero_point);
}

FAST void run_windows(const ember_depthwise_s8_dsp_t *s, int32_t from) {
    run_block(s, from, store);
}

static void run_depthwise(const ember_depthwise_s8_dsp_t *s) {
    const int32_t last = s->conv.channels - FOUR;

    for (int32_t from = 0; from < s->conv.channels; from += FOUR) {
        run_windows(s, from < last ? from : last);
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

// Four rows at a time become words.
FAST void turn_four(int8_t *to, const int8_t *from, int32_t rows, int32_t columns) {
    const int8_t *a = from, *b = a + columns, *c = b + columns, *d = c + columns;

    for (int32_t j = columns; j > 0; j--) {
        const uint32_t word = (uint8_t)*a++ | (uint32_t)(uint8_t)*b++ << 8 |
                              (uint32_t)(uint8_t)*c++ << 16 |
                              (uint32_t)(uint8_t)*d++ << 24;
        memcpy(to, &word, sizeof(word));
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
