// SPDX-License-Identifier: Apache-2.0
// quantized_add, portable. Contract and formula: quantized_add_s8.h.
#include "kernels/cortex_m/quantized_add_s8.h"

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    const ember_add_s8_t *s = state;
    const int32_t a_factor = s->a_factor;
    const int32_t b_factor = s->b_factor;
    const int32_t offset = s->offset;
    const uint32_t doubt = s->doubt;
    const ember_limits_s8_t limits = s->limits;
    const int32_t a_step = s->pair.a.step;
    const int32_t b_step = s->pair.b.step;

    for (uint32_t i = 0; i < count; i++) {
        const int32_t estimate = *a * a_factor + *b * b_factor + offset;
        if (ember_add_s8_fraction(estimate) < doubt) {
            y[i] = ember_add_s8_exact(s, *a, *b);
        } else {
            y[i] = ember_limit_s8(estimate >> EMBER_ADD_BITS, limits);
        }
        a += a_step;
        b += b_step;
    }
}

static int32_t run(void *state) {
    const ember_add_s8_t *s = state;
    ember_pair_s8_run(&s->pair, row, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_add_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_add_s8, ember_add_s8_t);
