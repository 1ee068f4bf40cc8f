// SPDX-License-Identifier: Apache-2.0
// cadence::dequantize_per_tensor and its kin: y = scale * (x - zero_point), the
// difference in int32.
#include "kernels/engine/cadence/elements.h"

enum { SCALE = 1, ZERO, OUT = 6 };

typedef struct dequantize {
    ember_cadence_elements_t elements;
    float scale;
    int32_t zero_point;
} dequantize_t;

static int32_t run(void *state) {
    const dequantize_t *s = state;
    const uint32_t zero_point = (uint32_t)s->zero_point;
    float *y = s->elements.y;

    for (uint32_t i = 0; i < s->elements.count; i++) {
        const int32_t x = ember_cadence_element(s->elements.x, s->elements.x_dtype, i);
        y[i] = s->scale * (float)(int32_t)((uint32_t)x - zero_point);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    dequantize_t *s = state;
    const ember_status_t status = ember_cadence_elements(&s->elements, node, OUT);
    const uint32_t dtype = status == EMBER_OK ? s->elements.x_dtype : EMBER_S8;

    s->scale = (float)ember_node_double(node, SCALE);
    s->zero_point = ember_node_int_in(node, ZERO, INT32_MIN, INT32_MAX);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (s->elements.y_dtype != EMBER_F32 ||
        (dtype != EMBER_U8 && dtype != EMBER_S8 && dtype != EMBER_U16 &&
         dtype != EMBER_S16 && dtype != EMBER_S32)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence dequantize: dtype");
    }
    return EMBER_OK;
}

EMBER_KERNEL(cadence_dequantize, dequantize_t);
