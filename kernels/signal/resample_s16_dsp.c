// SPDX-License-Identifier: Apache-2.0
// resample of int16 by the DSP extension, two products at a time; exact.
#include "kernels/engine/dsp/dot_s16_dsp.h"
#include "kernels/signal/resample.h"

static int32_t run(void *state) {
    ember_resample_s16_run(state, ember_dot_s16_dsp);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_resample_prepare(node, EMBER_S16, state);
}

EMBER_KERNEL(resample_s16_dsp, ember_resample_t);
