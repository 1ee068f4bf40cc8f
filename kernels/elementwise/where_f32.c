// SPDX-License-Identifier: Apache-2.0
// y = b where a is true, else c; float32 in one layout.
#include "ember/node.h"

typedef struct where {
    const uint8_t *a; // (count,) bool
    const float *b;   // (count,)
    const float *c;   // (count,)
    float *y;         // (count,); may be b or c
    uint32_t count;
} where_t;

static int32_t run(void *state) {
    const where_t *s = state;
    for (uint32_t i = 0; i < s->count; i++) {
        s->y[i] = s->a[i] != 0 ? s->b[i] : s->c[i];
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    where_t *s = state;
    ember_tensor_t a;
    ember_tensor_t b;
    ember_tensor_t c;
    ember_tensor_t y;

    ember_node_tensor(node, 0, &a);
    ember_node_tensor(node, 1, &b);
    ember_node_tensor(node, 2, &c);
    if (a.dtype != EMBER_B1 || b.dtype != EMBER_F32 || c.dtype != EMBER_F32 ||
        !ember_tensor_same_layout(&a, &b) || !ember_tensor_same_layout(&a, &c)) {
        return EMBER_UNSUPPORTED;
    }
    ember_node_output_like(node, 3, &b, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != EMBER_F32 || !ember_tensor_same_layout(&b, &y)) {
        return EMBER_UNSUPPORTED;
    }
    *s = (where_t){a.data, b.data, c.data, y.data, y.numel};
    return EMBER_OK;
}

EMBER_KERNEL(where_f32, where_t);
