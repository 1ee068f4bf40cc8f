// SPDX-License-Identifier: Apache-2.0
// pad for int8 only: without conversions between dtypes. Arguments: pad_args.h.
#include "kernels/cortex_m/pad_args.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_pad_amounts_t amounts;
    ember_tensor_t x;
    ember_view_t self;

    ember_pad_args(node, &x, &amounts);
    const int64_t value = ember_node_int(node, EMBER_PAD_VALUE);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_S8) {
        return EMBER_UNSUPPORTED; // for the general kernel
    }
    ember_view_tensor(&self, &x);
    return ember_pad_bytes(node, state, EMBER_PAD_OUT, &self, &amounts, (uint8_t)value);
}

static int32_t run(void *state) {
    return ember_pad_run(state);
}

EMBER_KERNEL(pad_s8, ember_pad_t);
