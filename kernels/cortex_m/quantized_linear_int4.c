// SPDX-License-Identifier: Apache-2.0
// ember::quantized_linear_int4.out
#include "kernels/engine/int8/conv_s4.h"

static int32_t run(void *state) {
    ember_conv_s4_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_conv_s4_t *s = state;
    const ember_status_t status = ember_conv_s4_linear_args(&s->conv, node);

    return status != EMBER_OK ? status : ember_conv_s4_prepare(s, node);
}

EMBER_KERNEL(quantized_linear_int4, ember_conv_s4_t);
