// SPDX-License-Identifier: Apache-2.0
// quantized_activation, portable. Contract: quantized_activation.h.
#include "kernels/cortex_m/quantized_activation.h"

enum { X, LUT, OUT };

static int32_t run(void *state) {
    const ember_lut_s8_t *s = state;
    const int8_t *middle = s->lut + 128;
    const int8_t *x = s->x;
    int8_t *y = s->y;

    for (const int8_t *past = x + s->count; x < past; x++) {
        *y++ = middle[*x];
    }
    return EMBER_OK;
}

ember_status_t ember_lut_s8_prepare(ember_node_t *node, void *state) {
    ember_lut_s8_t *s = state;
    ember_tensor_t x;
    ember_tensor_t lut;
    ember_tensor_t y;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, LUT, &lut);
    ember_node_output_like(node, OUT, &x, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_S8 || lut.dtype != EMBER_S8 || y.dtype != EMBER_S8 ||
        !ember_tensor_same_order(&x, &y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "activation: wrong dtype or layout");
    }
    if (lut.numel != 256) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "activation: wrong size of the table");
    }
    *s = (ember_lut_s8_t){x.data, lut.data, y.data, x.numel};
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_lut_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_activation, ember_lut_s8_t);
