// SPDX-License-Identifier: Apache-2.0
// pad of any dtype. Arguments: pad_args.h.
#include "kernels/cortex_m/pad_args.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_pad_amounts_t amounts;
    ember_tensor_t x;
    ember_view_t self;

    ember_pad_args(node, &x, &amounts);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&self, &x);
    return ember_pad_prepare(node, state, EMBER_PAD_OUT, &self, &amounts,
                             ember_fill_int(ember_node_int(node, EMBER_PAD_VALUE)));
}

static int32_t run(void *state) {
    return ember_pad_run(state);
}

EMBER_KERNEL(pad, ember_pad_t);
