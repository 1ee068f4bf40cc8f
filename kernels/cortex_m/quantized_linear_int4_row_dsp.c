// SPDX-License-Identifier: Apache-2.0
// quantized_linear_int4_row_dsp: one row with the DSP instructions.
#include "kernels/engine/dsp/conv_s4_dsp.h"

static int32_t run(void *state) {
    ember_row_s4_dsp_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_conv_s4_dsp_t *s = state;
    const ember_status_t status = ember_conv_s4_linear_args(&s->columns.conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (s->columns.conv.width.out != 1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: more than one row");
    }
    return ember_row_s4_dsp_prepare(s, node);
}

EMBER_KERNEL(quantized_linear_int4_row_dsp, ember_conv_s4_dsp_t);
