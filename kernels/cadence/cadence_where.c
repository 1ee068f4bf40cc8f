// SPDX-License-Identifier: Apache-2.0
// cadence::where_Scalar: one number where a condition is true, else another.
#include "kernels/engine/cadence/elements.h"

enum { CONDITION, YES, NO, OUT };

typedef struct where {
    ember_cadence_elements_t elements;
    float yes;
    float no;
} where_t;

static int32_t run(void *state) {
    const where_t *s = state;
    const uint8_t *condition = s->elements.x;
    float *y = s->elements.y;

    for (uint32_t i = 0; i < s->elements.count; i++) {
        y[i] = condition[i] != 0 ? s->yes : s->no;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    where_t *s = state;
    const ember_status_t status = ember_cadence_elements(&s->elements, node, OUT);

    s->yes = (float)ember_node_double(node, YES);
    s->no = (float)ember_node_double(node, NO);
    if (status == EMBER_OK &&
        (s->elements.x_dtype != EMBER_B1 || s->elements.y_dtype != EMBER_F32)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence where: dtypes");
    }
    return ember_node_status(node);
}

EMBER_KERNEL(cadence_where, where_t);
