// SPDX-License-Identifier: Apache-2.0
// cadence_depthwise_conv2d_panels with Hexagon's vectors. Contract: lent_panels.h.
#include "kernels/cadence/lent_hvx.h"
#include "kernels/cadence/lent_panels.h"
#include "kernels/cadence/real_hvx.h"

typedef struct state {
    ember_lent_t lent;
    union {
        ember_conv_s8_t conv;
        ember_depthwise_hvx_t depthwise;
    };
    ember_real_hvx_t real;
} state_t;

static void compute(const state_t *s) {
    const ember_real_ending_hvx_t ending = ember_real_ending_hvx(&s->real);
    ember_depthwise_hvx_run(&s->depthwise, &ending.ending);
}

static ember_status_t prepare_state(state_t *s, ember_node_t *node) {
    ember_lent_panels_t call;
    ember_status_t status = ember_lent_panels_depthwise_args(&call, node);

    if (status != EMBER_OK) {
        return status;
    }
    s->lent = call.lent;
    s->conv = call.conv;
    s->depthwise.period = call.depthwise.period;
    s->depthwise.sharing = call.depthwise.sharing;
    status = ember_depthwise_hvx_prepare_packed(&s->depthwise, node,
                                                (const int8_t *)call.depthwise.panels);
    if (status == EMBER_OK) {
        const ember_scales_s8_t *scales = &s->conv.scales;
        s->real =
            ember_real_within_hvx(scales->scale, scales->inverse, scales->zero_point,
                                  ember_depthwise_hvx_bound(&s->depthwise));
    }
    return status;
}

EMBER_LENT_IMAGE_KERNEL(cadence_depthwise_conv2d_panels_hvx, state_t, prepare_state,
                        compute, ember_turn_hvx);
