// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of the Cadence dialect. Contract: elements.h.
#include "kernels/engine/cadence/elements.h"

enum { NUMBERS = 256 };

ember_status_t ember_cadence_elements(ember_cadence_elements_t *elements,
                                      ember_node_t *node, uint32_t out) {
    ember_tensor_t x, y;

    ember_node_tensor(node, 0, &x);
    ember_node_output_like(node, out, &x, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!ember_tensor_same_order(&x, &y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence: dim orders differ");
    }
    elements->x = x.data;
    elements->y = y.data;
    elements->count = x.numel;
    elements->x_dtype = x.dtype;
    elements->y_dtype = y.dtype;
    return EMBER_OK;
}

void ember_cadence_bytes(const ember_cadence_elements_t *elements,
                         ember_cadence_byte_fn one, const void *state) {
    const uint8_t *x = elements->x;
    const uint8_t *past = x + elements->count;
    const int32_t sign = elements->x_dtype == EMBER_S8 ? NUMBERS / 2 : 0;
    uint8_t *y = elements->y;
    uint8_t table[NUMBERS];

    if (elements->count <= NUMBERS) {
        for (; x < past; x++) {
            *y++ = (uint8_t)one(state, (*x ^ sign) - sign);
        }
        return;
    }
    for (int32_t i = 0; i < NUMBERS; i++) {
        table[i] = (uint8_t)one(state, (i ^ sign) - sign);
    }
    for (; x < past; x++) {
        *y++ = table[*x];
    }
}
