// SPDX-License-Identifier: Apache-2.0
// quantized_transpose_conv2d_dsp: plain convolutions, one after the other, with
// the DSP instructions.
#include "kernels/engine/dsp/columns_dsp.h"
#include "kernels/engine/int8/transposed_s8.h"

static int32_t run(void *state) {
    const ember_columns_dsp_t *s = state;
    const ember_conv_s8_axis_t *height = &s->conv.height, *width = &s->conv.width;
    const ember_steps_s8_t steps = ember_transposed_s8_steps(&s->conv);
    ember_columns_dsp_t part = *s;

    part.w = s->turned;
    part.turned = NULL;
    for (int32_t y = 0; y < height->stride && y < height->out; y++) {
        for (int32_t x = 0; x < width->stride && x < width->out; x++) {
            ember_transposed_s8_part(&s->conv, y, x, &part.conv, s->turned);
            ember_columns_dsp_measure(&part);
            ember_columns_dsp_run(&part, steps, &ember_ending_dsp);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_columns_dsp_t *s = state;
    const ember_status_t status = ember_conv_s8_transposed_args(&s->conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    return ember_columns_dsp_prepare(s, node, ember_transposed_s8_taps(&s->conv),
                                     EMBER_WEIGHTS_MADE);
}

EMBER_KERNEL(quantized_transpose_conv2d_dsp, ember_columns_dsp_t);
