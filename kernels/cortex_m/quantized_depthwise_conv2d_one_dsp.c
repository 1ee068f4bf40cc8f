// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_one_dsp: a single channel, used by all filters, with the
// DSP instructions.
#include "kernels/engine/dsp/columns_dsp.h"

static int32_t run(void *state) {
    const ember_columns_dsp_t *s = state;
    ember_columns_dsp_run(s, ember_conv_s8_steps(&s->conv), &ember_ending_dsp);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_columns_dsp_t *s = state;
    const ember_status_t status = ember_conv_s8_depthwise_args(&s->conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    return ember_columns_dsp_prepare(s, node, ember_conv_s8_taps(&s->conv),
                                     EMBER_WEIGHTS_TURNED);
}

EMBER_KERNEL(quantized_depthwise_conv2d_one_dsp, ember_columns_dsp_t);
