// SPDX-License-Identifier: Apache-2.0
// log_bands_s16 with Helium, four at a time; exact.
#include <arm_mve.h>

#include "kernels/signal/log_bands_s16.h"

static void energies_of(const int16_t *z, uint32_t *energies, uint32_t bins) {
    for (int32_t left = (int32_t)bins; left > 0; left -= 4, z += 8, energies += 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int16x8_t parts = vldrhq_z_s16(z, lanes);
        const int32x4_t re = vmullbq_int_s16(parts, parts);
        const int32x4_t sum = vaddq_s32(re, vmulltq_int_s16(parts, parts));
        vstrwq_p_s32((int32_t *)(void *)energies, sum, lanes);
    }
}

static uint64_t weigh(const uint32_t *energies, const int16_t *weights,
                      uint32_t length) {
    const uint16_t *factors = (const uint16_t *)(const void *)weights;
    uint64_t sum = 0;
    for (int32_t left = (int32_t)length; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        sum = vmlaldavaq_u32(sum, vldrwq_z_u32(energies, lanes),
                             vldrhq_z_u32(factors, lanes));
        energies += 4;
        factors += 4;
    }
    return sum;
}

static int32_t run(void *state) {
    return ember_log_bands_s16_run(state, energies_of, weigh);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_log_bands_s16_prepare(node, state);
}

EMBER_KERNEL(log_bands_s16_mve, ember_log_bands_s16_t);
