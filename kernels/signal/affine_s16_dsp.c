// SPDX-License-Identifier: Apache-2.0
// affine_s16 by the DSP extension; exact.
#include "kernels/engine/dsp/dot_s16_dsp.h"
#include "kernels/signal/affine_s16.h"

static int32_t run(void *state) {
    ember_affine_s16_run(state, ember_dot_s16_dsp);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_affine_s16_prepare(node, state);
}

EMBER_KERNEL(affine_s16_dsp, ember_affine_s16_t);
