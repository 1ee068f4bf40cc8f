// SPDX-License-Identifier: Apache-2.0
// cadence::requantize: from one scale, zero point and dtype to others, through float32.
#include "kernels/engine/cadence/elements.h"

enum { X_SCALE = 1, X_ZERO, Y_SCALE, Y_ZERO, DTYPE, OUT };

typedef struct requantize {
    ember_cadence_elements_t elements;
    ember_cadence_number_t x_scale;
    ember_cadence_number_t x_zero;
    ember_cadence_number_t y_scale;
    ember_cadence_number_t y_zero;
    float inverse; // of a scale that is a number
} requantize_t;

static int32_t run(void *state) {
    const requantize_t *s = state;
    const ember_cadence_elements_t *elements = &s->elements;
    const float scale = ember_cadence_real(&s->x_scale, 0);
    const uint32_t zero = (uint32_t)ember_cadence_whole(&s->x_zero, 0);
    const float given = ember_cadence_real(&s->y_scale, 0);
    const float inverse = s->y_scale.at == NULL ? s->inverse : 1.0f / given;
    ember_cadence_cut_t cut;

    if (!ember_cadence_cut_set(&cut, elements->y_dtype,
                               ember_cadence_whole(&s->y_zero, 0))) {
        return EMBER_DATA_RANGE;
    }
    for (uint32_t i = 0; i < elements->count; i++) {
        const int32_t x = ember_cadence_element(elements->x, elements->x_dtype, i);
        const float real = scale * (float)(int32_t)((uint32_t)x - zero);
        ember_cadence_store(elements->y, elements->y_dtype, i,
                            ember_cadence_cut_of(&cut, real * inverse));
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    requantize_t *s = state;
    const ember_status_t status = ember_cadence_elements(&s->elements, node, OUT);

    s->x_scale = ember_cadence_real_arg(node, X_SCALE, 1);
    s->x_zero = ember_cadence_whole_arg(node, X_ZERO, 1);
    s->y_scale = ember_cadence_real_arg(node, Y_SCALE, 1);
    s->y_zero = ember_cadence_whole_arg(node, Y_ZERO, 1);
    if (status != EMBER_OK || ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    s->inverse = s->y_scale.at == NULL ? 1.0f / s->y_scale.real : 0.0f;
    if (ember_node_kind(node, Y_SCALE) != EMBER_TENSOR) {
        s->inverse = (float)(1.0 / ember_node_double(node, Y_SCALE));
    }
    if (!ember_cadence_small(s->elements.x_dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence requantize: dtype");
    }
    if (ember_node_int(node, DTYPE) != s->elements.y_dtype) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence requantize: wrong dtype");
    }
    return ember_cadence_cut_check(node, s->elements.y_dtype, &s->y_zero);
}

EMBER_KERNEL(cadence_requantize, requantize_t);
