// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_panels_hvx: with Hexagon's vectors.
#include "kernels/engine/hvx/depthwise_hvx.h"
#include "kernels/engine/int8/depthwise_panels_s8.h"

static int32_t run(void *state) {
    ember_depthwise_hvx_run(state, NULL);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_depthwise_hvx_t *s = state;
    ember_depthwise_panels_s8_t panels;
    const ember_status_t status = ember_depthwise_panels_s8_args(&panels, node);

    if (status != EMBER_OK) {
        return status;
    }
    s->conv = panels.conv;
    s->period = panels.period;
    s->sharing = panels.sharing;
    return ember_depthwise_hvx_prepare_packed(s, node, (const int8_t *)panels.panels);
}

EMBER_KERNEL(quantized_depthwise_conv2d_panels_hvx, ember_depthwise_hvx_t);
