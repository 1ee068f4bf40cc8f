// SPDX-License-Identifier: Apache-2.0
// upsample_nearest2d: each pixel is the input's at floor(position * step).
#include "kernels/engine/remap.h"
#include "kernels/movement/upsample.h"

enum { INPUT, SIZE, FACTORS, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_remap_t *remap = state;
    ember_upsample_t up;
    ember_status_t status = ember_upsample_args(&up, node, FACTORS, OUT);

    if (status != EMBER_OK) {
        return status;
    }
    status = ember_remap_prepare(remap, node, &up.out, &up.in, EMBER_REMAP_NEAREST);
    if (status == EMBER_OK) {
        remap->dims[2].scale = ember_upsample_step(&up, 0);
        remap->dims[3].scale = ember_upsample_step(&up, 1);
        ember_remap_join(remap);
    }
    return status;
}

static int32_t run(void *state) {
    ember_remap_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(upsample_nearest2d, ember_remap_t);
