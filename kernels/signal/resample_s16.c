// SPDX-License-Identifier: Apache-2.0
// resample of int16.
#include "kernels/signal/resample.h"

static int64_t dot(const int16_t *x, const int16_t *taps, uint32_t reach) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < reach; k++) {
        sum += (int32_t)x[k] * taps[k];
    }
    return sum;
}

static int32_t run(void *state) {
    ember_resample_s16_run(state, dot);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_resample_prepare(node, EMBER_S16, state);
}

EMBER_KERNEL(resample_s16, ember_resample_t);
