// SPDX-License-Identifier: Apache-2.0
// Layer normalisation over the last dimensions, float16, contiguous.
#include "kernels/norm/layer_norm_plain.h"

static int32_t run(void *state) {
    ember_layer_norm_run_plain(state, true);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_layer_norm_prepare(node, state, EMBER_F16);
}

EMBER_KERNEL(layer_norm_f16, ember_layer_norm_rows_t);
