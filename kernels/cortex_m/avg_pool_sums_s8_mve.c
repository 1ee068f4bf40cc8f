// SPDX-License-Identifier: Apache-2.0
// ember::avg_pool_sums.out with Helium, four channels at a time. Contract:
// avg_pool_rows_s8.h. Scales are at least 2^-91, so nothing is flushed to 0.
#include <arm_mve.h>

#include "kernels/cortex_m/avg_pool_rows_s8.h"

static void add_window(const ember_avg_pool_rows_s8_t *s, const int8_t *x,
                       float *sums) {
    for (int32_t left = s->channels; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int8_t *item = x;
        float32x4_t sum = vldrwq_z_f32(sums, lanes);
        for (int32_t j = 0; j < s->columns; j++) {
            const int32x4_t steps = vsubq_n_s32(vldrbq_z_s32(item, lanes), s->zero);
            sum = vaddq_f32(sum, vmulq_n_f32(vcvtq_f32_s32(steps), s->scale));
            item += s->channels;
        }
        vstrwq_p_f32(sums, sum, lanes);
        x += 4;
        sums += 4;
    }
}

static int32_t run(void *state) {
    ember_avg_pool_sums_s8_run(state, add_window);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_avg_pool_sums_s8_prepare(node, state);
}

EMBER_KERNEL(avg_pool_sums_s8_mve, ember_avg_pool_rows_s8_t);
