// SPDX-License-Identifier: Apache-2.0
// quantized_conv2d_hvx: one group, with Hexagon's vectors.
#include "kernels/cortex_m/columns_hvx.h"
#include "kernels/cortex_m/conv_s8_run.h"

typedef struct state {
    ember_conv_s8_t conv;
    ember_columns_hvx_t columns;
} state_t;

static int32_t run(void *state) {
    const state_t *s = state;

    if (ember_columns_hvx_aligned(&s->columns)) {
        ember_columns_hvx_run(&s->columns);
    } else {
        ember_conv_s8_run(&s->conv, false);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const ember_status_t status = ember_conv_s8_plain_args(&s->conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (s->conv.over ||
        !ember_columns_hvx_pays(&s->conv, ember_packets_of_conv(&s->conv))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: an output lies over its input, or is small");
    }
    const ember_columns_form_hvx_t form = {.turned = false};
    return ember_columns_hvx_prepare(&s->columns, node, &s->conv, &form);
}

EMBER_KERNEL(quantized_conv2d_hvx, state_t);
