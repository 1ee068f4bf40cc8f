// SPDX-License-Identifier: Apache-2.0
// affine_s16 with Helium; exact.
#include "kernels/engine/mve/dot_s16_mve.h"
#include "kernels/signal/affine_s16.h"

static int32_t run(void *state) {
    ember_affine_s16_run(state, ember_dot_s16_mve);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_affine_s16_prepare(node, state);
}

EMBER_KERNEL(affine_s16_mve, ember_affine_s16_t);
