// SPDX-License-Identifier: Apache-2.0
// log_bands_s16 by the DSP extension: both squares of a number at once, products of 64
// bits; exact.
#include "kernels/signal/log_bands_s16.h"

#include <arm_dsp.h>
#include <string.h>

static void energies_of(const int16_t *z, uint32_t *energies, uint32_t bins) {
    for (uint32_t i = 0; i < bins; i++, z += 2) {
        uint32_t pair;
        memcpy(&pair, z, sizeof(pair));
        energies[i] = (uint32_t)ember_smlad(pair, pair, 0);
    }
}

static uint64_t weigh(const uint32_t *energies, const int16_t *weights,
                      uint32_t length) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < length; i++) {
        sum += (uint64_t)energies[i] * (uint16_t)weights[i];
    }
    return sum;
}

static int32_t run(void *state) {
    return ember_log_bands_s16_run(state, energies_of, weigh);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_log_bands_s16_prepare(node, state);
}

EMBER_KERNEL(log_bands_s16_dsp, ember_log_bands_s16_t);
