// SPDX-License-Identifier: Apache-2.0
// resample of int16 by the DSP extension, two products at a time; exact.
#include <arm_acle.h>

#include "kernels/signal/resample.h"

static int16x2_t pair(const int16_t *at) {
    int16x2_t both;
    memcpy(&both, at, sizeof(both));
    return both;
}

static int64_t dot(const int16_t *x, const int16_t *taps, uint32_t reach) {
    const int16_t *end = taps + (reach & ~7u);
    int64_t sum = 0;
    for (; taps != end; x += 8, taps += 8) {
        sum = __smlald(pair(x), pair(taps), sum);
        sum = __smlald(pair(x + 2), pair(taps + 2), sum);
        sum = __smlald(pair(x + 4), pair(taps + 4), sum);
        sum = __smlald(pair(x + 6), pair(taps + 6), sum);
    }
    for (uint32_t k = 0; k < reach % 8; k++) {
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

EMBER_KERNEL(resample_s16_dsp, ember_resample_t);
