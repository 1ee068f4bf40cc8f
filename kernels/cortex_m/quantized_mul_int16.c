// SPDX-License-Identifier: Apache-2.0
// ember::quantized_mul_int16.out. Formula: pair_s16.h.
#include "kernels/cortex_m/pair_s16.h"

enum { MULTIPLIER = 2, LOW = 4, HIGH };

static int32_t run(void *state) {
    const ember_mul_s16_t *s = state;

    for (uint32_t i = 0; i < s->pair.rows; i++) {
        ember_row_s16_t row = ember_row_s16(&s->pair, i);
        for (uint32_t left = s->pair.count; left > 0; left--) {
            const int32_t scaled =
                ember_requantize(*row.a * *row.b, s->by.multiplier, s->by.shift);
            *row.y++ = ember_limit_s16(scaled, s->limits);
            row.a += row.a_step;
            row.b += row.b_step;
        }
    }
    return EMBER_OK;
}

ember_status_t ember_mul_s16_prepare(ember_node_t *node, void *state) {
    ember_mul_s16_t *s = state;

    s->by = ember_requantize_args(node, MULTIPLIER);
    s->limits = ember_limits_s16_args(node, LOW, HIGH);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return ember_pair_prepare(node, &s->pair, 1, EMBER_S16);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_mul_s16_prepare(node, state);
}

EMBER_KERNEL(quantized_mul_int16, ember_mul_s16_t);
