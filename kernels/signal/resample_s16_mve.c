// SPDX-License-Identifier: Apache-2.0
// resample of int16 with Helium, eight products at a time; exact.
#include <arm_mve.h>

#include "kernels/signal/resample.h"

static int64_t dot(const int16_t *x, const int16_t *taps, uint32_t reach) {
    int64_t sum = 0;
    for (int32_t left = (int32_t)reach; left > 0; left -= 8, x += 8, taps += 8) {
        const mve_pred16_t lanes = vctp16q((uint32_t)left);
        const int16x8_t factors = vldrhq_z_s16(taps, lanes);
        sum = vmlaldavaq_s16(sum, vldrhq_z_s16(x, lanes), factors);
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

EMBER_KERNEL(resample_s16_mve, ember_resample_t);
