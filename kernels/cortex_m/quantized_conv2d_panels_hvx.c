// SPDX-License-Identifier: Apache-2.0
// quantized_conv2d_panels_hvx: with Hexagon's vectors.
#include "kernels/engine/hvx/columns_hvx.h"
#include "kernels/engine/int8/panels_s8.h"

typedef struct state {
    ember_panels_s8_t panels;
    ember_columns_hvx_t columns;
} state_t;

// In portable C if the image is unaligned for vectors.
static int32_t run(void *state) {
    const state_t *s = state;

    if (ember_columns_hvx_aligned(&s->columns)) {
        ember_columns_hvx_run(&s->columns, NULL);
    } else {
        ember_panels_s8_run(&s->panels);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const ember_status_t status = ember_panels_s8_args(&s->panels, node);
    const ember_columns_form_hvx_t form = {
        .packed = (const int8_t *)s->panels.panels,
        .merged = s->panels.merged,
    };

    return status != EMBER_OK
               ? status
               : ember_columns_hvx_prepare(&s->columns, node, &s->panels.conv, &form);
}

EMBER_KERNEL(quantized_conv2d_panels_hvx, state_t);
