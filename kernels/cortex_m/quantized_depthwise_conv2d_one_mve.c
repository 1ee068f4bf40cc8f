// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_one_mve: a single channel, used by all filters, with
// Helium.
#include "kernels/engine/mve/columns_mve.h"

static int32_t run(void *state) {
    const ember_columns_mve_t *s = state;
    ember_columns_mve_run(s, ember_conv_s8_steps(&s->conv), NULL);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_columns_mve_t *s = state;
    const ember_status_t status = ember_conv_s8_depthwise_args(&s->conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    return ember_columns_mve_prepare(s, node, ember_conv_s8_taps(&s->conv),
                                     EMBER_WEIGHTS_TURNED);
}

EMBER_KERNEL(quantized_depthwise_conv2d_one_mve, ember_columns_mve_t);
