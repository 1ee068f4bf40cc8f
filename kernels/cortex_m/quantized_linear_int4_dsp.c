// SPDX-License-Identifier: Apache-2.0
// quantized_linear_int4_dsp: rows with the DSP instructions.
#include "kernels/engine/dsp/conv_s4_dsp.h"

static int32_t run(void *state) {
    ember_conv_s4_dsp_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_conv_s4_dsp_t *s = state;
    const ember_status_t status = ember_conv_s4_linear_args(&s->columns.conv, node);

    return status != EMBER_OK ? status : ember_conv_s4_dsp_prepare(s, node);
}

EMBER_KERNEL(quantized_linear_int4_dsp, ember_conv_s4_dsp_t);
