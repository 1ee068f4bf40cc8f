// SPDX-License-Identifier: Apache-2.0
// y = the smaller of a and b, int8, with the DSP extension: four at a time.
#include "kernels/cortex_m/pair_s8.h"
#include "kernels/engine/bytes_dsp.h"

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    (void)state;
    for (; count >= 4; count -= 4, a += 4, b += 4, y += 4) {
        ember_word_store(y, ember_word_min(ember_word_load(a), ember_word_load(b)));
    }
    for (; count > 0; count--, a++, b++) {
        *y++ = *a < *b ? *a : *b;
    }
}

static int32_t run(void *state) {
    ember_pair_s8_run(state, row, state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_pair_s8_dense_prepare(node, state);
}

EMBER_KERNEL(minimum_s8_dsp, ember_pair_s8_t);
