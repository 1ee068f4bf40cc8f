// SPDX-License-Identifier: Apache-2.0
// Convolutions with weights of int4. Contract: conv_s4_dsp.h.
#include "kernels/engine/dsp/conv_s4_dsp.h"

#include <stddef.h>
#include <string.h>

#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4, HALF = EMBER_BLOCK_S4 / 2 }; // bytes of a row

static const uint32_t upper = 0xF0F0F0F0u;

// A whole block.
INLINE void widen_block(int8_t *to, const int8_t *row) {
#pragma GCC unroll 4
    for (int32_t i = 0; i < HALF; i += FOUR) {
        const uint32_t word = ember_word_dsp(row + i);
        const uint32_t first = word << 4 & upper;
        memcpy(to + i, &first, sizeof(first));
        memcpy(to + HALF + i, &word, sizeof(word));
    }
}

// Widens `filters` rows to the tile.
FAST void widen_rows(const ember_weights_s4_t *weights, const int8_t *row,
                     int32_t filters) {
    const int32_t inner = weights->inner, rest = inner % EMBER_BLOCK_S4;
    int8_t *to = weights->tile;

    for (; filters > 0; filters--) {
        const int8_t *from = row;
        for (int32_t left = inner / EMBER_BLOCK_S4; left > 0; left--) {
            widen_block(to, from);
            to += EMBER_BLOCK_S4;
            from += HALF;
        }
        ember_widen_s4(to, from, rest);
        to += rest;
        row += weights->pitch;
    }
}

SMALL void ember_conv_s4_dsp_run(const ember_conv_s4_dsp_t *s) {
    const ember_conv_s8_t *conv = &s->columns.conv;
    const ember_weights_s4_t *weights = &s->weights;
    const ember_steps_s8_t steps = ember_conv_s8_steps(conv);
    const int8_t *row = weights->rows;
    ember_columns_dsp_t part = s->columns;

    for (int32_t from = 0; from < conv->filters; from += weights->chunk) {
        part.conv = ember_part_s4(conv, weights, from);
        part.w = weights->tile;
        widen_rows(weights, row, part.conv.filters);
        ember_columns_dsp_run(&part, steps, &ember_ending_dsp);
        row += (ptrdiff_t)weights->chunk * weights->pitch;
    }
}

SMALL ember_status_t ember_conv_s4_dsp_prepare(ember_conv_s4_dsp_t *s,
                                               ember_node_t *node) {
    ember_conv_s8_t *conv = &s->columns.conv;
    const int32_t filters = conv->filters;
    const int64_t taps = ember_conv_s8_taps(conv);

    if (!ember_scales_fit_dsp(conv, taps * conv->depth)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: scales for DSP");
    }
    s->weights = ember_weights_s4(conv, ember_chunk_s4(conv));
    s->weights.tile = ember_node_scratch_before(node, (size_t)s->weights.chunk *
                                                          (size_t)s->weights.inner);
    conv->filters = s->weights.chunk;
    const ember_status_t status =
        ember_columns_dsp_prepare(&s->columns, node, taps, EMBER_WEIGHTS_PLAIN);
    conv->filters = filters;
    return status;
}
