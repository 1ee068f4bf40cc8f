// SPDX-License-Identifier: Apache-2.0
// quantized_linear_dsp: with the DSP instructions.
#include "kernels/engine/dsp/matmul_s8_dsp.h"

static int32_t run(void *state) {
    ember_matmul_s8_dsp_run(state, NULL);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_matmul_s8_dsp_t *dsp = state;
    const ember_status_t status = ember_matmul_s8_linear(&dsp->matmul, node);

    return status != EMBER_OK ? status : ember_matmul_s8_dsp_prepare(dsp, node);
}

EMBER_KERNEL(quantized_linear_dsp, ember_matmul_s8_dsp_t);
