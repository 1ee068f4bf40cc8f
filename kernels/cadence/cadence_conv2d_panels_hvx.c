// SPDX-License-Identifier: Apache-2.0
// cadence_conv2d_panels with Hexagon's vectors. Contract: lent_panels.h.
#include "kernels/cadence/lent_hvx.h"
#include "kernels/cadence/lent_panels.h"
#include "kernels/cadence/real_hvx.h"

typedef struct state {
    ember_lent_t lent;
    union {
        ember_conv_s8_t conv;
        ember_panels_s8_t panels;
    };
    ember_columns_hvx_t columns;
    ember_real_hvx_t real;
} state_t;

// In portable C if the image is unaligned for vectors.
static void compute(const state_t *s) {
    if (!ember_columns_hvx_aligned(&s->columns)) {
        ember_lent_panels_plain(&s->conv, ember_panels_s8_sum);
        return;
    }
    const ember_real_ending_hvx_t ending = ember_real_ending_hvx(&s->real);
    ember_columns_hvx_run(&s->columns, &ending.ending);
}

static ember_status_t prepare_state(state_t *s, ember_node_t *node) {
    ember_lent_panels_t call;
    const ember_status_t status = ember_lent_panels_args(&call, node);

    if (status != EMBER_OK) {
        return status;
    }
    s->lent = call.lent;
    s->panels = call.whole;
    s->real = ember_real_hvx(s->conv.scales.scale, s->conv.scales.inverse,
                             s->conv.scales.zero_point);
    const ember_columns_form_hvx_t form = {
        .packed = (const int8_t *)s->panels.panels,
        .merged = s->panels.merged,
    };
    return ember_columns_hvx_prepare(&s->columns, node, &s->conv, &form);
}

EMBER_LENT_IMAGE_KERNEL(cadence_conv2d_panels_hvx, state_t, prepare_state, compute,
                        ember_turn_hvx);
