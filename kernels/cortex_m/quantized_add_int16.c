// SPDX-License-Identifier: Apache-2.0
// ember::quantized_add_int16.out. Formula: pair_s16.h.
#include "kernels/cortex_m/pair_s16.h"

enum { A_BY = 2, B_BY, SHIFT, LOW, HIGH };
enum { SHIFT_MAX = 30, LARGEST = 1 << 15 }; // magnitude of an element

static int32_t run(void *state) {
    const ember_add_s16_t *s = state;

    for (uint32_t i = 0; i < s->pair.rows; i++) {
        ember_row_s16_t row = ember_row_s16(&s->pair, i);
        for (uint32_t left = s->pair.count; left > 0; left--) {
            const int32_t sum = *row.a * s->a_by + *row.b * s->b_by + s->half;
            *row.y++ = ember_limit_s16(sum >> s->shift, s->limits);
            row.a += row.a_step;
            row.b += row.b_step;
        }
    }
    return EMBER_OK;
}

ember_status_t ember_add_s16_prepare(ember_node_t *node, void *state) {
    ember_add_s16_t *s = state;

    s->a_by = (int16_t)ember_node_int_in(node, A_BY, 0, INT16_MAX);
    s->b_by = (int16_t)ember_node_int_in(node, B_BY, 0, INT16_MAX);
    s->shift = ember_node_int_in(node, SHIFT, 1, SHIFT_MAX);
    s->limits = ember_limits_s16_args(node, LOW, HIGH);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    s->half = (int32_t)1 << (s->shift - 1);
    if ((int64_t)LARGEST * (s->a_by + s->b_by) + s->half > INT32_MAX) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "ember: multipliers are too large");
    }
    return ember_pair_prepare(node, &s->pair, 1, EMBER_S16);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_add_s16_prepare(node, state);
}

EMBER_KERNEL(quantized_add_int16, ember_add_s16_t);
