// SPDX-License-Identifier: Apache-2.0
// Contract: pad_args.h.
#include "kernels/cortex_m/pad_args.h"

enum { X, BEFORE, AFTER, DIMS = 4 };

// As for the exporter: images of one channel or of one pixel are both.
static bool is_channels_last(const ember_tensor_t *x) {
    return x->rank == DIMS &&
           (x->sizes[1] == 1 || (x->sizes[2] == 1 && x->sizes[3] == 1) ||
            (x->dim_order[0] == 0 && x->dim_order[1] == 2));
}

static void read_list(ember_node_t *node, uint32_t arg, const ember_tensor_t *x,
                      int32_t *amounts) {
    static const uint8_t nhwc[DIMS] = {0, 3, 1, 2};
    const bool last = is_channels_last(x);
    int32_t items[DIMS] = {0};

    if (x->rank > DIMS) {
        ember_node_fail(node, EMBER_UNSUPPORTED, "pad: more than four dimensions");
        return;
    }
    if (ember_node_ints(node, arg, items, DIMS) != DIMS) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "pad: needs four amounts");
        return;
    }
    for (uint32_t d = 0; d < x->rank; d++) {
        const uint32_t at = last ? nhwc[d] : DIMS - x->rank + d;
        amounts[d] = items[at];
        if (items[at] == INT32_MIN) {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "pad: too large");
        }
    }
}

void ember_pad_args(ember_node_t *node, ember_tensor_t *x,
                    ember_pad_amounts_t *amounts) {
    ember_node_tensor(node, X, x);
    read_list(node, BEFORE, x, amounts->before);
    read_list(node, AFTER, x, amounts->after);
}
