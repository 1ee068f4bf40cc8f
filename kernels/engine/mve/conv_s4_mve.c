// SPDX-License-Identifier: Apache-2.0
// Convolutions with weights of int4. Contract: conv_s4_mve.h.
#include "kernels/engine/mve/conv_s4_mve.h"

#include <stddef.h>

#include "kernels/engine/mve/products_mve.h"

enum { HALF = EMBER_BLOCK_S4 / 2 }; // bytes of a row

// Widens `filters` rows to the tile.
static __attribute__((noinline)) void widen_rows(const ember_weights_s4_t *weights,
                                                 const int8_t *row, int32_t filters) {
    const int32_t inner = weights->inner, rest = inner % EMBER_BLOCK_S4;
    const int32_t half = ember_bytes_s4(rest);
    const mve_pred16_t first = vctp8q((uint32_t)(half < rest ? half : rest));
    const mve_pred16_t second = vctp8q((uint32_t)(half < rest ? rest - half : 0));
    int8_t *to = weights->tile;

    for (; filters > 0; filters--) {
        for (int32_t left = inner / EMBER_BLOCK_S4; left > 0; left--) {
            const int8x16_t both = vldrbq_s8(row);
            vstrbq_s8(to, vshlq_n_s8(both, 4));
            vstrbq_s8(to + HALF, both);
            to += EMBER_BLOCK_S4;
            row += HALF;
        }
        const int8x16_t both = vldrbq_z_s8(row, first);
        vstrbq_p_s8(to, vshlq_n_s8(both, 4), first);
        vstrbq_p_s8(to + half, both, second);
        to += rest;
        row += half;
    }
}

void ember_conv_s4_mve_run(const ember_conv_s4_mve_t *s) {
    const ember_conv_s8_t *conv = &s->columns.conv;
    const ember_weights_s4_t *weights = &s->weights;
    const ember_steps_s8_t steps = ember_conv_s8_steps(conv);
    const int8_t *row = weights->rows;
    ember_columns_mve_t part = s->columns;

    for (int32_t from = 0; from < conv->filters; from += weights->chunk) {
        part.conv = ember_part_s4(conv, weights, from);
        part.w = weights->tile;
        widen_rows(weights, row, part.conv.filters);
        ember_columns_mve_run(&part, steps, NULL);
        row += (ptrdiff_t)weights->chunk * weights->pitch;
    }
}

ember_status_t ember_conv_s4_mve_prepare(ember_conv_s4_mve_t *s, ember_node_t *node) {
    ember_conv_s8_t *conv = &s->columns.conv;
    const int32_t filters = conv->filters;

    s->weights = ember_weights_s4(conv, ember_chunk_s4(conv));
    s->weights.tile = ember_node_scratch_before(node, (size_t)s->weights.chunk *
                                                          (size_t)s->weights.inner);
    conv->filters = s->weights.chunk;
    const ember_status_t status = ember_columns_mve_prepare(
        &s->columns, node, ember_conv_s8_taps(conv), EMBER_WEIGHTS_PLAIN);
    conv->filters = filters;
    return status;
}
