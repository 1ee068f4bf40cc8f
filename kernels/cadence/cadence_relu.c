// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_relu: values above the zero point, rescaled.
//
//     y = quantised(max(x - x_zero, 0) * out_scale)
//
// If the zero point is a tensor, the difference wraps in the dtype of x, as in the
// dialect's C++.
#include "kernels/engine/cadence/elements.h"

enum { X_ZERO = 1, Y_ZERO, MULTIPLIER, SHIFT, OUT };

typedef struct relu {
    ember_cadence_elements_t elements;
    ember_cadence_number_t x_zero;
    ember_cadence_number_t multiplier;
    ember_cadence_number_t shift;
    ember_cadence_cut_t cut;
    bool wraps;
} relu_t;

// Read at the start of a run.
typedef struct rescale {
    ember_cadence_cut_t cut;
    float scale;
    int32_t x_zero;
    int32_t most; // differences above it wrap
} rescale_t;

static int32_t relu_of(const void *state, int32_t x) {
    const rescale_t *by = state;
    int32_t above = x > by->x_zero ? x - by->x_zero : 0;

    above -= above > by->most ? UINT8_MAX + 1 : 0;
    return ember_cadence_cut_of(&by->cut, (float)above * by->scale);
}

static int32_t run(void *state) {
    const relu_t *s = state;
    const rescale_t by = {
        .cut = s->cut,
        .scale = ember_cadence_scale(ember_cadence_whole(&s->multiplier, 0),
                                     ember_cadence_whole(&s->shift, 0)),
        .x_zero = ember_cadence_whole(&s->x_zero, 0),
        .most = s->wraps ? INT8_MAX : INT32_MAX,
    };

    ember_cadence_bytes(&s->elements, relu_of, &by);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    relu_t *s = state;
    const ember_status_t status = ember_cadence_elements(&s->elements, node, OUT);
    const int32_t zero = ember_node_int_in(node, Y_ZERO, INT32_MIN, INT32_MAX);

    s->x_zero = ember_cadence_whole_arg(node, X_ZERO, 1);
    s->multiplier = ember_cadence_whole_arg(node, MULTIPLIER, 1);
    s->shift = ember_cadence_whole_arg(node, SHIFT, 1);
    if (status != EMBER_OK || ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const uint32_t dtype = s->elements.x_dtype;
    if ((dtype != EMBER_S8 && dtype != EMBER_U8) || s->elements.y_dtype != dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence relu: dtype");
    }
    s->wraps = ember_node_kind(node, X_ZERO) == EMBER_TENSOR && dtype == EMBER_S8;
    if (s->x_zero.at == NULL && (s->x_zero.whole < -EMBER_CADENCE_ZERO ||
                                 s->x_zero.whole > EMBER_CADENCE_ZERO)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence relu: the zero point is out of range");
    }
    return ember_cadence_cut_set(&s->cut, dtype, zero)
               ? EMBER_OK
               : ember_node_fail(node, EMBER_BAD_PROGRAM,
                                 "cadence relu: the zero point is out of range");
}

EMBER_KERNEL(cadence_relu, relu_t);
