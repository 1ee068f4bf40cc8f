// SPDX-License-Identifier: Apache-2.0
// constant_pad_nd: a value around the tensor; negative amounts cut elements off.
#include "kernels/engine/pad.h"

enum { SELF, PAD, VALUE, OUT };

// The pads of the dimensions, the last one first, are pairs (before, after).
static int32_t pad_of(ember_node_t *node, uint32_t rank, uint32_t d, uint32_t after) {
    const uint32_t item = 2 * (rank - 1 - d) + after;

    if (item >= ember_node_list_count(node, PAD)) {
        return 0;
    }
    const int64_t pad = ember_node_list_int(node, PAD, item);
    if (pad > INT32_MAX || pad < -INT32_MAX) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "pad: too large");
        return 0;
    }
    return (int32_t)pad;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const uint32_t count = ember_node_list_count(node, PAD);
    ember_pad_amounts_t amounts;
    ember_view_t self;

    ember_view_arg(&self, node, SELF);
    if (count % 2 != 0 || count > 2u * self.rank) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "pad: the list has the wrong length");
    }
    for (uint32_t d = 0; d < self.rank; d++) {
        amounts.before[d] = pad_of(node, self.rank, d, 0);
        amounts.after[d] = pad_of(node, self.rank, d, 1);
    }
    return ember_pad_prepare(node, state, OUT, &self, &amounts,
                             ember_node_scalar(node, VALUE));
}

static int32_t run(void *state) {
    return ember_pad_run(state);
}

EMBER_KERNEL(constant_pad_nd, ember_pad_t);
