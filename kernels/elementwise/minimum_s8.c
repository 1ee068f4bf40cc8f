// SPDX-License-Identifier: Apache-2.0
// y = the smaller of a and b, int8.
#include "kernels/cortex_m/pair_s8.h"

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    const ember_pair_s8_t *s = state;
    const int32_t a_step = s->a.step;
    const int32_t b_step = s->b.step;

    for (const int8_t *past = y + count; y < past; y++) {
        *y = *a < *b ? *a : *b;
        a += a_step;
        b += b_step;
    }
}

static int32_t run(void *state) {
    ember_pair_s8_run(state, row, state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_pair_s8_plain_prepare(node, state);
}

EMBER_KERNEL(minimum_s8, ember_pair_s8_t);
