// SPDX-License-Identifier: Apache-2.0
// ember::cadence_packed_conv2d.out: weights are unpacked for every image.
#include "kernels/cadence/lent_packed.h"
#include "kernels/cadence/lent_plain.h"
#include "kernels/engine/int8/packed_s8.h"

typedef struct {
    ember_lent_t lent;
    ember_conv_s8_t conv;
    int8_t *unpacked; // (filters, height.kernel, width.kernel, depth)
    int32_t fours;    // of a row of taps
} state_t;

static void compute(const state_t *s) {
    ember_conv_s8_t conv = s->conv;

    ember_packed_s8_unpack(&s->conv, s->fours, s->unpacked);
    conv.w = s->unpacked;
    ember_lent_plain_conv(&conv, false);
}

static ember_status_t prepare_state(state_t *s, ember_node_t *node) {
    const ember_status_t status =
        ember_lent_packed_args(&s->lent, &s->conv, node, &s->fours);

    if (status != EMBER_OK) {
        return status;
    }
    s->unpacked = ember_node_scratch(node, ember_packed_s8_plain(&s->conv));
    return ember_node_status(node);
}

EMBER_LENT_IMAGE_KERNEL(cadence_packed_conv2d, state_t, prepare_state, compute,
                        ember_turn);
