// SPDX-License-Identifier: Apache-2.0
// my_ops::mul3: y = 3 x. float32, both tensors in one layout.
#include "ember/node.h"

typedef struct mul3 {
    const float *x; // (count,)
    float *y;       // (count,)
    uint32_t count; // elements
} mul3_t;

static int32_t run(void *state) {
    const mul3_t *s = state;
    for (uint32_t i = 0; i < s->count; i++) {
        s->y[i] = s->x[i] * 3.0f;
    }
    return EMBER_OK;
}

// Arguments are numbered as in the schema: 0 is input, 1 is output.
static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_tensor_t y;

    ember_node_tensor(node, 0, &x);
    ember_node_output_like(node, 1, &x, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_F32 || y.dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "mul3: want float32");
    }
    if (!ember_tensor_same_layout(&x, &y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "mul3: want one layout");
    }
    *(mul3_t *)state = (mul3_t){x.data, y.data, x.numel};
    return EMBER_OK;
}

EMBER_KERNEL(mul3, mul3_t);
