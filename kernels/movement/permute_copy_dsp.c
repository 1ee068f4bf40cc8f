// SPDX-License-Identifier: Apache-2.0
// permute_copy_dsp: permutes the dimensions of bytes, where that transposes matrices.
#include "kernels/movement/permute_copy.h"

static void turn(const ember_copy_t *copy, uint8_t *to, const uint8_t *from) {
    ember_permute_copy_turn(copy, to, from, ember_turn_dsp);
}

static int32_t run(void *state) {
    ember_permute_copy_matrices(state, turn);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_status_t status = ember_permute_copy_prepare(node, state);

    if (status == EMBER_OK && !ember_permute_copy_is_turn(state)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "permute_copy_dsp: layout");
    }
    return status;
}

EMBER_KERNEL(permute_copy_dsp, ember_copy_t);
