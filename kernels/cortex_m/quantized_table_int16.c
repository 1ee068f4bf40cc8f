// SPDX-License-Identifier: Apache-2.0
// ember::quantized_table_int16.out: any function of one int16. Formula: table_s16.h.
#include "ember/node.h"
#include "kernels/engine/table_s16.h"

enum { X, TABLE, OUT };

typedef struct {
    const int16_t *x;
    const int16_t *table; // (513,)
    int16_t *y;           // may be x
    uint32_t count;
} state_t;

static int32_t run(void *state) {
    const state_t *s = state;

    for (uint32_t i = 0; i < s->count; i++) {
        s->y[i] = (int16_t)ember_table_s16(s->table, s->x[i]);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t x, table, y;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, TABLE, &table);
    ember_node_output_like(node, OUT, &x, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_S16 || table.dtype != EMBER_S16 || y.dtype != EMBER_S16 ||
        !ember_tensor_same_order(&x, &y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "table: wrong dtype or layout");
    }
    if (table.numel != EMBER_TABLE_ITEMS_S16) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "table: wrong size");
    }
    *s = (state_t){x.data, table.data, y.data, x.numel};
    return EMBER_OK;
}

EMBER_KERNEL(quantized_table_int16, state_t);
