// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/prim.h"

ember_status_t ember_prim_read(ember_node_t *node, ember_prim_t *prim, uint32_t count,
                               ember_value_t *values) {
    for (uint32_t i = 0; i < count; i++) {
        values[i] = ember_node_scalar(node, i);
    }
    prim->slot = ember_node_slot(node, count);
    prim->kind = EMBER_NONE;
    prim->as_int = 0;
    return ember_node_status(node);
}

void ember_prim_set_whole(ember_prim_t *prim, double number) {
    const double limit = 9223372036854775808.0;
    if (number >= -limit && number < limit) {
        ember_prim_set_int(prim, (int64_t)number);
    }
}

int32_t ember_prim_run(void *state) {
    const ember_prim_t *s = state;
    switch (s->kind) {
    case EMBER_INT:
        ember_slot_set_int(s->slot, s->as_int);
        return EMBER_OK;
    case EMBER_BOOL:
        ember_slot_set_bool(s->slot, s->as_int != 0);
        return EMBER_OK;
    case EMBER_DOUBLE:
        ember_slot_set_double(s->slot, s->as_double);
        return EMBER_OK;
    default: // division by zero, or a double that is not an int
        return EMBER_DATA_RANGE;
    }
}
