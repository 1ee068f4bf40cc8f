// SPDX-License-Identifier: Apache-2.0
// upsample_bilinear2d of uint8.
#include "kernels/movement/upsample_u8.h"

enum { ALIGN = 2, FACTORS, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_upsample_t up;
    const ember_status_t status = ember_upsample_args(&up, node, FACTORS, OUT);

    return status != EMBER_OK
               ? status
               : ember_upsample_u8_prepare(state, node, &up,
                                           ember_node_bool(node, ALIGN), false);
}

static int32_t run(void *state) {
    ember_upsample_u8_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(upsample_bilinear2d_u8, ember_upsample_u8_t);
