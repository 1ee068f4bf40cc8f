// SPDX-License-Identifier: Apache-2.0
// upsample_bilinear2d of floats.
#include "kernels/engine/element.h"
#include "kernels/movement/bilinear.h"

enum { ALIGN = 2, FACTORS, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_upsample_t up;
    const ember_status_t status = ember_upsample_args(&up, node, FACTORS, OUT);

    if (status != EMBER_OK) {
        return status;
    }
    ember_node_work(node, (uint32_t)ember_view_numel(&up.out),
                    4 * EMBER_STEPS_ANY); // corners
    return ember_bilinear_prepare(state, node, &up, ember_node_bool(node, ALIGN));
}

static int32_t run(void *state) {
    const ember_bilinear_t *s = state;
    const ember_bilinear_rows_t all = {0, s->at.sizes[2], 0, s->at.in_size[0] - 1};

    ember_bilinear_run(s, &all);
    return EMBER_OK;
}

EMBER_KERNEL(upsample_bilinear2d, ember_bilinear_t);
