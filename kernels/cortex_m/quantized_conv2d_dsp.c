// SPDX-License-Identifier: Apache-2.0
// quantized_conv2d_dsp: one group, with the DSP instructions.
#include "kernels/engine/dsp/columns_dsp.h"

static int32_t run(void *state) {
    const ember_columns_dsp_t *s = state;
    ember_columns_dsp_run(s, ember_conv_s8_steps(&s->conv), &ember_ending_dsp);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_columns_dsp_t *s = state;
    const ember_status_t status = ember_conv_s8_plain_args(&s->conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    return ember_columns_dsp_prepare(s, node, ember_conv_s8_taps(&s->conv),
                                     EMBER_WEIGHTS_PLAIN);
}

EMBER_KERNEL(quantized_conv2d_dsp, ember_columns_dsp_t);
