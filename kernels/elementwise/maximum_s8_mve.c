// SPDX-License-Identifier: Apache-2.0
// y = the larger of a and b, int8, with Helium: 16 at a time.
#include <arm_mve.h>

#include "kernels/cortex_m/pair_s8.h"

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    (void)state;
    for (int32_t left = (int32_t)count; left > 0; left -= 16) {
        const mve_pred16_t lanes = vctp8q((uint32_t)left);
        const int8x16_t first = vldrbq_z_s8(a, lanes);
        vstrbq_p_s8(y, vmaxq_s8(first, vldrbq_z_s8(b, lanes)), lanes);
        a += 16;
        b += 16;
        y += 16;
    }
}

static int32_t run(void *state) {
    ember_pair_s8_run(state, row, state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_pair_s8_dense_prepare(node, state);
}

EMBER_KERNEL(maximum_s8_mve, ember_pair_s8_t);
