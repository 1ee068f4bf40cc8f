// SPDX-License-Identifier: Apache-2.0
// ember::avg_pool_sums.out, portable. Contract: avg_pool_rows_s8.h.
#include "kernels/cortex_m/avg_pool_rows_s8.h"

static void add_window(const ember_avg_pool_rows_s8_t *s, const int8_t *x,
                       float *sums) {
    for (int32_t c = 0; c < s->channels; c++) {
        const int8_t *item = x + c;
        float sum = sums[c];
        for (int32_t j = 0; j < s->columns; j++) {
            sum += (float)(*item - s->zero) * s->scale;
            item += s->channels;
        }
        sums[c] = sum;
    }
}

static int32_t run(void *state) {
    ember_avg_pool_sums_s8_run(state, add_window);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_avg_pool_sums_s8_prepare(node, state);
}

EMBER_KERNEL(avg_pool_sums_s8, ember_avg_pool_rows_s8_t);
