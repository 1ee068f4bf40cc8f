// SPDX-License-Identifier: Apache-2.0
// quantized_conv2d_int16_dsp: with the DSP instructions.
#include "kernels/cortex_m/conv_s16_dsp.h"

static int32_t run(void *state) {
    ember_conv_s16_dsp_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_conv_s16_dsp_t *s = state;
    const ember_status_t status = ember_conv_s16_args(&s->conv, node);

    return status != EMBER_OK ? status : ember_conv_s16_dsp_prepare(s, node);
}

EMBER_KERNEL(quantized_conv2d_int16_dsp, ember_conv_s16_dsp_t);
