// SPDX-License-Identifier: Apache-2.0
// The only element of a tensor as a number (item()).
#include "ember/node.h"
#include "kernels/engine/element.h"

typedef struct local_scalar {
    const void *data;
    ember_slot_t *slot;
    uint8_t dtype;
} local_scalar_t;

static int32_t run(void *state) {
    const local_scalar_t *s = state;
    ember_number_t number;
    if (ember_class_of(s->dtype) != EMBER_CLASS_S64) {
        ember_elements_load(EMBER_CLASS_F64, &number, s->dtype, s->data, 0, 1);
        ember_slot_set_double(s->slot, number.f64);
        return EMBER_OK;
    }
    ember_elements_load(EMBER_CLASS_S64, &number, s->dtype, s->data, 0, 1);
    if (s->dtype == EMBER_B1) {
        ember_slot_set_bool(s->slot, number.s64 != 0);
    } else {
        ember_slot_set_int(s->slot, number.s64);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    local_scalar_t *s = state;
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    *s = (local_scalar_t){x.data, ember_node_slot(node, 1), x.dtype};
    if (ember_node_status(node) == EMBER_OK && x.numel != 1) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "local_scalar_dense: needs exactly one element");
    }
    return ember_node_status(node);
}

EMBER_KERNEL(local_scalar_dense, local_scalar_t);
